throw new RangeError('at once');
