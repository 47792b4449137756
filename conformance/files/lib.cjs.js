exports.answer = 42;
exports.twice = function (n) { return n * 2; };
