// WritableStream, its default controller and its default writer, after the WHATWG streams standard, whose names the
// functions have. Where k6 2.2 has texts of its own, these are k6's. As readable.js, it runs once a realm and returns the
// exports; the state of a stream lies in the objects a VU makes.
(function (shared) {
  'use strict';

  const { one, handled, isObject, deferred, callOf, strategyOf } = shared;

  // Access to the private state of the classes below.
  let streamOf, isStream;
  // Nobody but this file can make a controller.
  const KEY = {};
  // What closes a stream, in its queue.
  const CLOSE = {};

  const rejected = (reason) => Promise.reject(reason);

  function resolvedDeferred() {
    const made = deferred();
    made.resolve(undefined);
    return made;
  }

  function rejectedDeferred(reason) {
    const made = deferred();
    handled(made.promise);
    made.reject(reason);
    return made;
  }

  class WritableStream {
    #own = {
      state: 'writable', stored: undefined, writer: undefined, controller: undefined, requests: [], inFlight: undefined,
      closeRequest: undefined, inFlightClose: undefined, pendingAbort: undefined, backpressure: false,
    };

    static {
      streamOf = (stream) => stream.#own;
      isStream = (value) => isObject(value) && #own in value;
    }

    constructor(sink, strategy) {
      if (sink === undefined) {
        sink = {};
      } else if (!isObject(sink)) {
        throw new TypeError('underlyingSink must be an object');
      }
      const [abort, close, start, write] = ['abort', 'close', 'start', 'write'].map((name) => {
        const method = sink[name];
        if (method !== undefined && typeof method !== 'function') {
          throw new TypeError(`underlyingSink.[[${name}]] must be a function`);
        }
        return method;
      });
      if (sink.type !== undefined) {
        throw new RangeError("'type' is not supported by WritableStream");
      }
      const { size, highWaterMark } = strategyOf(strategy, 'strategy must be an object');
      setUpController(this.#own, sink, { abort, close, start, write }, highWaterMark, size);
    }

    get locked() {
      return this.#own.writer !== undefined;
    }

    abort(reason) {
      if (!isStream(this)) {
        return rejected(new TypeError('this is not a WritableStream'));
      }
      return this.locked ? rejected(new TypeError('cannot abort a locked stream')) : streamAbort(this.#own, reason);
    }

    close() {
      if (!isStream(this)) {
        return rejected(new TypeError('this is not a WritableStream'));
      }
      if (this.locked) {
        return rejected(new TypeError('cannot close a locked stream'));
      }
      if (closeQueuedOrInFlight(this.#own)) {
        return rejected(new TypeError('stream is already closing'));
      }
      return streamClose(this.#own);
    }

    getWriter() {
      return new WritableStreamDefaultWriter(this);
    }
  }

  function streamAbort(stream, reason) {
    if (stream.state === 'closed' || stream.state === 'errored') {
      return Promise.resolve(undefined);
    }
    if (stream.pendingAbort !== undefined) {
      return stream.pendingAbort.promise;
    }
    const wasErroring = stream.state === 'erroring';
    const pending = Object.assign(deferred(), { reason: wasErroring ? undefined : reason, wasErroring });
    stream.pendingAbort = pending;
    if (!wasErroring) {
      startErroring(stream, reason);
    }
    return pending.promise;
  }

  function streamClose(stream) {
    if (stream.state === 'closed' || stream.state === 'errored') {
      return rejected(new TypeError('stream is already closed or errored'));
    }
    const closing = deferred();
    stream.closeRequest = closing;
    const { writer } = stream;
    if (writer !== undefined && stream.backpressure && stream.state === 'writable') {
      writer.ready.resolve(undefined);
    }
    controllerClose(stream.controller);
    return closing.promise;
  }

  function addWriteRequest(stream) {
    const request = deferred();
    stream.requests.push(request);
    return request.promise;
  }

  const closeQueuedOrInFlight = (stream) => stream.closeRequest !== undefined || stream.inFlightClose !== undefined;
  const hasOperationInFlight = (stream) => stream.inFlight !== undefined || stream.inFlightClose !== undefined;

  function dealWithRejection(stream, error) {
    if (stream.state === 'writable') {
      startErroring(stream, error);
    } else {
      finishErroring(stream);
    }
  }

  function startErroring(stream, reason) {
    const { controller, writer } = stream;
    stream.state = 'erroring';
    stream.stored = reason;
    if (writer !== undefined) {
      ensureReadyRejected(writer, reason);
    }
    if (!hasOperationInFlight(stream) && controller.started) {
      finishErroring(stream);
    }
  }

  function finishErroring(stream) {
    stream.state = 'errored';
    stream.controller.queue = [];
    stream.controller.total = 0;
    stream.requests.splice(0).forEach((request) => request.reject(stream.stored));
    const pending = stream.pendingAbort;
    if (pending === undefined) {
      rejectCloseAndClosed(stream);
      return;
    }
    stream.pendingAbort = undefined;
    if (pending.wasErroring) {
      pending.reject(stream.stored);
      rejectCloseAndClosed(stream);
      return;
    }
    const { controller } = stream;
    const aborted = callOf(controller.sink, controller.abort, [pending.reason]);
    clearAlgorithms(controller);
    aborted.then(
      () => {
        pending.resolve(undefined);
        rejectCloseAndClosed(stream);
      },
      (error) => {
        pending.reject(error);
        rejectCloseAndClosed(stream);
      },
    );
  }

  function rejectCloseAndClosed(stream) {
    if (stream.closeRequest !== undefined) {
      stream.closeRequest.reject(stream.stored);
      stream.closeRequest = undefined;
    }
    if (stream.writer !== undefined) {
      handled(stream.writer.closed.promise);
      stream.writer.closed.reject(stream.stored);
    }
  }

  function finishClose(stream) {
    stream.inFlightClose.resolve(undefined);
    stream.inFlightClose = undefined;
    if (stream.state === 'erroring') {
      stream.stored = undefined;
      if (stream.pendingAbort !== undefined) {
        stream.pendingAbort.resolve(undefined);
        stream.pendingAbort = undefined;
      }
    }
    stream.state = 'closed';
    stream.writer?.closed.resolve(undefined);
  }

  function finishCloseWithError(stream, error) {
    stream.inFlightClose.reject(error);
    stream.inFlightClose = undefined;
    if (stream.pendingAbort !== undefined) {
      stream.pendingAbort.reject(error);
      stream.pendingAbort = undefined;
    }
    dealWithRejection(stream, error);
  }

  function updateBackpressure(stream, backpressure) {
    const { writer } = stream;
    if (writer !== undefined && backpressure !== stream.backpressure) {
      if (backpressure) {
        writer.ready = deferred();
      } else {
        writer.ready.resolve(undefined);
      }
    }
    stream.backpressure = backpressure;
  }

  class WritableStreamDefaultController {
    #own;

    constructor(key, own) {
      if (key !== KEY) {
        throw new TypeError('a WritableStreamDefaultController cannot be made by scripts');
      }
      this.#own = own;
    }

    error(error) {
      if (this.#own.stream.state === 'writable') {
        controllerError(this.#own, error);
      }
    }
  }

  function setUpController(stream, sink, { abort, close, start, write }, highWaterMark, size) {
    const own = { stream, sink, abort, close, write, size, highWaterMark, queue: [], total: 0, started: false };
    stream.controller = own;
    own.object = new WritableStreamDefaultController(KEY, own);
    updateBackpressure(stream, desiredSize(own) <= 0);
    const started = start === undefined ? undefined : Reflect.apply(start, sink, [own.object]);
    new Promise((resolve) => resolve(started)).then(
      () => {
        own.started = true;
        advanceQueue(own);
      },
      (error) => {
        own.started = true;
        dealWithRejection(stream, error);
      },
    );
  }

  const desiredSize = (own) => own.highWaterMark - own.total;

  function clearAlgorithms(own) {
    own.write = own.close = own.abort = undefined;
    own.size = one;
  }

  function controllerClose(own) {
    own.queue.push({ chunk: CLOSE, size: 0 });
    advanceQueue(own);
  }

  function controllerError(own, error) {
    clearAlgorithms(own);
    startErroring(own.stream, error);
  }

  function chunkSize(own, chunk) {
    try {
      return (0, own.size)(chunk);
    } catch (error) {
      if (own.stream.state === 'writable') {
        controllerError(own, error);
      }
      return 1;
    }
  }

  function controllerWrite(own, chunk, given) {
    const { stream } = own;
    const size = Number(given);
    if (!(size >= 0 && size < Infinity)) {
      if (stream.state === 'writable') {
        controllerError(own, new RangeError('size must be a finite, non-NaN number'));
      }
      return;
    }
    own.queue.push({ chunk, size });
    own.total += size;
    if (!closeQueuedOrInFlight(stream) && stream.state === 'writable') {
      updateBackpressure(stream, desiredSize(own) <= 0);
    }
    advanceQueue(own);
  }

  function advanceQueue(own) {
    const { stream } = own;
    if (!own.started || stream.inFlight !== undefined) {
      return;
    }
    if (stream.state === 'erroring') {
      finishErroring(stream);
    } else if (own.queue.length > 0) {
      if (own.queue[0].chunk === CLOSE) {
        processClose(own);
      } else {
        processWrite(own, own.queue[0].chunk);
      }
    }
  }

  function dequeue(own) {
    own.total = Math.max(own.total - own.queue.shift().size, 0);
  }

  function processClose(own) {
    const { stream } = own;
    stream.inFlightClose = stream.closeRequest;
    stream.closeRequest = undefined;
    dequeue(own);
    const closed = callOf(own.sink, own.close, []);
    clearAlgorithms(own);
    closed.then(
      () => finishClose(stream),
      (error) => finishCloseWithError(stream, error),
    );
  }

  function processWrite(own, chunk) {
    const { stream } = own;
    stream.inFlight = stream.requests.shift();
    callOf(own.sink, own.write, [chunk, own.object]).then(
      () => {
        stream.inFlight.resolve(undefined);
        stream.inFlight = undefined;
        const { state } = stream;
        dequeue(own);
        if (!closeQueuedOrInFlight(stream) && state === 'writable') {
          updateBackpressure(stream, desiredSize(own) <= 0);
        }
        advanceQueue(own);
      },
      (error) => {
        if (stream.state === 'writable') {
          clearAlgorithms(own);
        }
        stream.inFlight.reject(error);
        stream.inFlight = undefined;
        dealWithRejection(stream, error);
      },
    );
  }

  class WritableStreamDefaultWriter {
    // stream, closed, ready
    #own;

    constructor(stream) {
      if (!isStream(stream)) {
        throw new TypeError('WritableStreamDefaultWriter argument must be a WritableStream');
      }
      if (stream.locked) {
        throw new TypeError('stream is locked');
      }
      const target = streamOf(stream);
      const own = { stream: target, closed: deferred(), ready: undefined };
      switch (target.state) {
        case 'writable':
          own.ready = !closeQueuedOrInFlight(target) && target.backpressure ? deferred() : resolvedDeferred();
          break;
        case 'erroring':
          own.ready = rejectedDeferred(target.stored);
          break;
        case 'closed':
          own.ready = resolvedDeferred();
          own.closed.resolve(undefined);
          break;
        default:
          own.ready = rejectedDeferred(target.stored);
          own.closed = rejectedDeferred(target.stored);
      }
      target.writer = own;
      this.#own = own;
    }

    get closed() {
      return this.#own.closed.promise;
    }

    get ready() {
      return this.#own.ready.promise;
    }

    get desiredSize() {
      const { stream } = this.#own;
      if (stream === undefined) {
        throw new TypeError('writer was released');
      }
      switch (stream.state) {
        case 'errored':
        case 'erroring':
          return null;
        case 'closed':
          return 0;
        default:
          return desiredSize(stream.controller);
      }
    }

    abort(reason) {
      const failed = this.#refused();
      return failed ?? streamAbort(this.#own.stream, reason);
    }

    close() {
      const failed = this.#refused();
      if (failed !== undefined) {
        return failed;
      }
      return closeQueuedOrInFlight(this.#own.stream)
        ? rejected(new TypeError('stream is already closing'))
        : streamClose(this.#own.stream);
    }

    releaseLock() {
      const own = this.#own;
      const { stream } = own;
      if (stream === undefined) {
        return;
      }
      const reason = new TypeError('writer released');
      ensureReadyRejected(own, reason);
      ensureClosedRejected(own, reason);
      stream.writer = undefined;
      own.stream = undefined;
    }

    write(chunk) {
      const failed = this.#refused();
      return failed ?? writerWrite(this.#own, chunk);
    }

    #refused() {
      if (!(isObject(this) && #own in this)) {
        return rejected(new TypeError('value is not a WritableStreamDefaultWriter'));
      }
      return this.#own.stream === undefined ? rejected(new TypeError('writer was released')) : undefined;
    }
  }

  // A promise that is settled already is replaced by a rejected one.
  function ensureReadyRejected(writer, error) {
    const before = writer.ready;
    handled(before.promise);
    before.reject(error);
    writer.ready = rejectedDeferred(error);
  }

  function ensureClosedRejected(writer, error) {
    const before = writer.closed;
    handled(before.promise);
    before.reject(error);
    writer.closed = rejectedDeferred(error);
  }

  function writerWrite(own, chunk) {
    const { stream } = own;
    const { controller } = stream;
    const size = chunkSize(controller, chunk);
    // Measuring it is a call of the script's.
    if (stream !== own.stream) {
      return rejected(new TypeError('writer was released'));
    }
    if (stream.state === 'errored') {
      return rejected(stream.stored);
    }
    if (closeQueuedOrInFlight(stream) || stream.state === 'closed') {
      return rejected(new TypeError('stream is closing or closed'));
    }
    if (stream.state === 'erroring') {
      return rejected(stream.stored);
    }
    const promise = addWriteRequest(stream);
    controllerWrite(controller, chunk, size);
    return promise;
  }

  // k6: its text.
  function named(Class, name) {
    const constructor = {
      [name]: function (...args) {
        if (new.target === undefined) {
          throw new TypeError(`${name} constructor must be called with new`);
        }
        return Reflect.construct(Class, args, new.target);
      },
    }[name];
    Object.defineProperty(constructor, 'prototype', { value: Class.prototype });
    Object.defineProperty(Class.prototype, 'constructor', { value: constructor, writable: true, configurable: true });
    return constructor;
  }

  return {
    WritableStream: named(WritableStream, 'WritableStream'),
    WritableStreamDefaultWriter: named(WritableStreamDefaultWriter, 'WritableStreamDefaultWriter'),
  };
})
