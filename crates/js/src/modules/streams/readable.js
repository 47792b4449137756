// ReadableStream, its default controller and its default reader, after the WHATWG streams standard, whose names the
// functions have. Where k6 has texts or limits of its own, these are k6's. It runs once a realm and returns the exports:
// what it makes is shared by VUs and never changed; the state of a stream lies in the objects a VU makes.
(function (shared) {
  'use strict';

  const { nothing, one, handled, isObject, deferred, callOf, strategyOf } = shared;

  // Access to the private state of streams for the classes below.
  let streamOf, isStream;

  const rejected = (reason) => handled(Promise.reject(reason));
  const resolvedWith = (value) => new Promise((resolve) => resolve(value));

  // What k6's Go side throws.
  function notSupported(what) {
    const error = new Error(`NotSupportedError:${what} is not supported yet`);
    Object.defineProperty(error, 'name', { value: 'GoError', writable: true, configurable: true });
    return error;
  }

  // k6: classes of its modules can be called without `new`.
  function callable(Class, name) {
    const constructor = {
      [name]: function (...args) {
        return Reflect.construct(Class, args, new.target || Class);
      },
    }[name];
    Object.defineProperty(constructor, 'prototype', { value: Class.prototype });
    Object.defineProperty(Class.prototype, 'constructor', { value: constructor, writable: true, configurable: true });
    return constructor;
  }

  // Queues: arrays with a head, so that taking the first does not move the others.

  const newQueue = () => ({ items: [], head: 0 });
  const lengthOf = (queue) => queue.items.length - queue.head;

  function take(queue) {
    const item = queue.items[queue.head];
    queue.items[queue.head++] = undefined;
    if (queue.head === queue.items.length) {
      queue.items = [];
      queue.head = 0;
    } else if (queue.head >= 1024 && queue.head * 2 > queue.items.length) {
      queue.items = queue.items.slice(queue.head);
      queue.head = 0;
    }
    return item;
  }

  // Streams.

  class Stream {
    // state, stored (the error), disturbed, reader, controller
    #own = { state: 'readable', stored: undefined, disturbed: false, reader: undefined, controller: undefined };

    static {
      streamOf = (stream) => stream.#own;
      isStream = (value) => isObject(value) && #own in value;
    }

    constructor(source, strategy) {
      if (source === undefined) {
        source = {};
      } else if (!isObject(source) || Array.isArray(source)) {
        throw new TypeError('underlyingSource must be an object');
      }
      const [cancel, pull, start] = ['cancel', 'pull', 'start'].map((name) => {
        const method = source[name];
        if (method !== undefined && typeof method !== 'function') {
          throw new TypeError(`underlyingSource.[[${name}]] must be a function`);
        }
        return method;
      });
      const { type } = source;
      if (type === 'bytes') {
        throw notSupported("'bytes' stream");
      } else if (type !== undefined) {
        throw new TypeError('invalid underlying source type');
      }
      const { size, highWaterMark } = strategyOf(strategy, 'CountQueuingStrategy argument must be an object');
      setUpController(this.#own, source, { start, pull, cancel }, highWaterMark, size);
    }

    get locked() {
      return this.#own.reader !== undefined;
    }

    cancel(reason) {
      if (!isStream(this)) {
        return rejected(new TypeError('this is not a ReadableStream'));
      }
      return this.locked
        ? Promise.reject(new TypeError('cannot cancel a locked stream'))
        : readableStreamCancel(this.#own, reason);
    }

    getReader(options) {
      if (options !== undefined && options !== null && !isObject(options)) {
        throw new TypeError(`could not convert function call parameter 0: could not convert ${String(options)} to sobek.Object`);
      }
      const mode = options?.mode;
      if (mode === 'byob') {
        throw notSupported("'byob' mode");
      } else if (mode !== undefined) {
        throw new TypeError("options.mode is not 'byob'");
      }
      return new ReadableStreamDefaultReader(this);
    }

    tee() {
      throw notSupported("'tee()'");
    }
  }

  function readableStreamCancel(stream, reason) {
    stream.disturbed = true;
    if (stream.state === 'closed') {
      return Promise.resolve(undefined);
    }
    if (stream.state === 'errored') {
      return Promise.reject(stream.stored);
    }
    readableStreamClose(stream);
    const { controller } = stream;
    resetQueue(controller);
    const cancelled = callOf(controller.source, controller.cancel, [reason]);
    clearAlgorithms(controller);
    return cancelled.then(nothing);
  }

  function readableStreamClose(stream) {
    stream.state = 'closed';
    const { reader } = stream;
    if (reader !== undefined) {
      reader.closed.resolve(undefined);
      const { requests } = reader;
      reader.requests = newQueue();
      while (lengthOf(requests) > 0) {
        take(requests).resolve({ value: undefined, done: true });
      }
    }
  }

  function readableStreamError(stream, error) {
    stream.state = 'errored';
    stream.stored = error;
    const { reader } = stream;
    if (reader !== undefined) {
      reader.closed.reject(error);
      handled(reader.closed.promise);
      rejectRequests(reader, error);
    }
  }

  function rejectRequests(reader, error) {
    const { requests } = reader;
    reader.requests = newQueue();
    while (lengthOf(requests) > 0) {
      take(requests).reject(error);
    }
  }

  // Controllers.

  // Only this file has it.
  const KEY = {};

  class ReadableStreamDefaultController {
    // stream, source, start, pull, cancel, size, highWaterMark, queue, total, started, closeRequested, pulling, pullAgain
    #own;

    constructor(key, own) {
      if (key !== KEY) {
        throw new TypeError('a ReadableStreamDefaultController cannot be made by scripts');
      }
      this.#own = own;
    }

    get desiredSize() {
      return desiredSize(this.#own);
    }

    close() {
      const own = this.#own;
      if (!canCloseOrEnqueue(own)) {
        throw new TypeError('cannot close or enqueue');
      }
      own.closeRequested = true;
      if (lengthOf(own.queue) === 0) {
        clearAlgorithms(own);
        readableStreamClose(own.stream);
      }
    }

    enqueue(chunk) {
      const own = this.#own;
      if (!canCloseOrEnqueue(own)) {
        throw new TypeError('cannot close or enqueue');
      }
      const { reader } = own.stream;
      if (reader !== undefined && lengthOf(reader.requests) > 0) {
        take(reader.requests).resolve({ value: chunk, done: false });
      } else {
        try {
          const size = Number((0, own.size)(chunk));
          if (!(size >= 0 && size < Infinity)) {
            throw new RangeError('size must be a finite, non-NaN number');
          }
          own.queue.items.push({ chunk, size });
          own.total += size;
        } catch (error) {
          controllerError(own, error);
          throw error;
        }
      }
      callPullIfNeeded(own);
    }

    error(error) {
      controllerError(this.#own, error);
    }
  }

  function setUpController(stream, source, { start, pull, cancel }, highWaterMark, size) {
    const own = {
      stream,
      source,
      pull,
      cancel,
      size,
      highWaterMark,
      queue: newQueue(),
      total: 0,
      started: false,
      closeRequested: false,
      pulling: false,
      pullAgain: false,
      object: undefined,
    };
    stream.controller = own;
    own.object = new ReadableStreamDefaultController(KEY, own);
    const started = start === undefined ? undefined : Reflect.apply(start, source, [own.object]);
    resolvedWith(started).then(
      () => {
        own.started = true;
        callPullIfNeeded(own);
      },
      (error) => controllerError(own, error),
    );
  }

  const canCloseOrEnqueue = (own) => !own.closeRequested && own.stream.state === 'readable';

  function desiredSize(own) {
    switch (own.stream.state) {
      case 'errored':
        return null;
      case 'closed':
        return 0;
      default:
        return own.highWaterMark - own.total;
    }
  }

  function shouldPull(own) {
    if (!canCloseOrEnqueue(own) || !own.started) {
      return false;
    }
    const { reader } = own.stream;
    return (reader !== undefined && lengthOf(reader.requests) > 0) || desiredSize(own) > 0;
  }

  function callPullIfNeeded(own) {
    if (!shouldPull(own)) {
      return;
    }
    if (own.pulling) {
      own.pullAgain = true;
      return;
    }
    own.pulling = true;
    callOf(own.source, own.pull, [own.object]).then(
      () => {
        own.pulling = false;
        if (own.pullAgain) {
          own.pullAgain = false;
          callPullIfNeeded(own);
        }
      },
      (error) => controllerError(own, error),
    );
  }

  function controllerError(own, error) {
    if (own.stream.state !== 'readable') {
      return;
    }
    resetQueue(own);
    clearAlgorithms(own);
    readableStreamError(own.stream, error);
  }

  // The first chunk of a queue that has one.
  function dequeue(own) {
    const { chunk, size } = take(own.queue);
    own.total = Math.max(0, own.total - size);
    if (own.closeRequested && lengthOf(own.queue) === 0) {
      clearAlgorithms(own);
      readableStreamClose(own.stream);
    } else {
      callPullIfNeeded(own);
    }
    return chunk;
  }

  function resetQueue(own) {
    own.queue = newQueue();
    own.total = 0;
  }

  function clearAlgorithms(own) {
    own.pull = undefined;
    own.cancel = undefined;
    own.size = one;
    own.source = undefined;
  }

  // Readers.

  class ReadableStreamDefaultReader {
    // stream, closed (a deferred), requests
    #own = { stream: undefined, closed: undefined, requests: newQueue() };

    constructor(...args) {
      if (args.length !== 1) {
        throw new TypeError('ReadableStreamDefaultReader takes a single argument');
      }
      if (!isStream(args[0])) {
        throw new TypeError('ReadableStreamDefaultReader argument must be a ReadableStream');
      }
      const stream = streamOf(args[0]);
      if (stream.reader !== undefined) {
        throw new TypeError('stream is locked');
      }
      const own = this.#own;
      own.stream = stream;
      stream.reader = own;
      own.closed = deferred();
      if (stream.state === 'closed') {
        own.closed.resolve(undefined);
      } else if (stream.state === 'errored') {
        own.closed.reject(stream.stored);
        handled(own.closed.promise);
      }
    }

    get closed() {
      return this.#own.closed.promise;
    }

    cancel(reason) {
      const { stream } = this.#own;
      return stream === undefined
        ? Promise.reject(new TypeError('stream is undefined'))
        : readableStreamCancel(stream, reason);
    }

    read() {
      const { stream, requests } = this.#own;
      if (stream === undefined) {
        return Promise.reject(new TypeError('stream is undefined'));
      }
      stream.disturbed = true;
      if (stream.state === 'closed') {
        return Promise.resolve({ value: undefined, done: true });
      }
      if (stream.state === 'errored') {
        return Promise.reject(stream.stored);
      }
      const { controller } = stream;
      if (lengthOf(controller.queue) === 0) {
        const request = deferred();
        requests.items.push(request);
        callPullIfNeeded(controller);
        return request.promise;
      }
      const chunk = dequeue(controller);
      return Promise.resolve({ value: chunk, done: false });
    }

    releaseLock() {
      const own = this.#own;
      const { stream } = own;
      if (stream === undefined) {
        return;
      }
      const error = new TypeError(stream.state === 'readable' ? 'stream is readable' : 'stream is not readable');
      if (stream.state === 'readable') {
        own.closed.reject(error);
      } else {
        own.closed = deferred();
        own.closed.reject(error);
      }
      handled(own.closed.promise);
      stream.reader = undefined;
      own.stream = undefined;
      rejectRequests(own, new TypeError('reader released'));
    }
  }

  // The body of a response that is read as it arrives. `source` is native: `next()` is a promise of the next piece, `wait()`
  // the piece itself, both undefined at the end; `cancel()` is for those who want no more. Nothing is read ahead.
  class ResponseBody extends Stream {
    #source;

    constructor(source) {
      let controller;
      const underlying = {
        start: (made) => {
          controller = made;
        },
        pull: () =>
          source.next().then((piece) => (piece === undefined ? controller.close() : controller.enqueue(piece))),
        cancel: () => source.cancel(),
      };
      super(underlying, { highWaterMark: 0 });
      this.#source = source;
    }

    *[Symbol.iterator]() {
      const reader = new ReadableStreamDefaultReader(this);
      const stream = streamOf(this);
      try {
        for (let piece = waitFor(stream, this.#source); piece !== undefined; piece = waitFor(stream, this.#source)) {
          yield piece;
        }
      } finally {
        leave(stream, reader);
      }
    }

    async *[Symbol.asyncIterator]() {
      const reader = new ReadableStreamDefaultReader(this);
      try {
        for (let read = await reader.read(); !read.done; read = await reader.read()) {
          yield read.value;
        }
      } finally {
        leave(streamOf(this), reader);
      }
    }
  }

  // The next piece, for which the VU waits; undefined at the end.
  function waitFor(stream, source) {
    const { controller } = stream;
    stream.disturbed = true;
    if (lengthOf(controller.queue) > 0) {
      return dequeue(controller);
    }
    if (stream.state === 'errored') {
      throw stream.stored;
    }
    if (stream.state === 'closed') {
      return undefined;
    }
    if (controller.pulling) {
      throw new TypeError('the body is being read already: await that first');
    }
    let piece;
    try {
      piece = source.wait();
    } catch (error) {
      controllerError(controller, error);
      throw error;
    }
    if (piece === undefined) {
      clearAlgorithms(controller);
      readableStreamClose(stream);
    }
    return piece;
  }

  // An iteration is over: nobody else reads what it has left.
  function leave(stream, reader) {
    if (stream.state === 'readable') {
      readableStreamCancel(stream, undefined);
    }
    reader.releaseLock();
  }

  const countSize = { size: () => 1 }.size;

  class CountQueuingStrategy {
    constructor(...args) {
      if (args.length !== 1) {
        throw new TypeError('CountQueuingStrategy takes a single argument');
      }
      if (!isObject(args[0])) {
        throw new TypeError('CountQueuingStrategy argument must be an object');
      }
      if (!('highWaterMark' in args[0])) {
        throw new TypeError("CountQueuingStrategy argument must have 'highWaterMark' property");
      }
      this.highWaterMark = args[0].highWaterMark;
      this.size = countSize;
    }
  }

  return {
    ReadableStream: callable(Stream, 'ReadableStream'),
    ReadableStreamDefaultReader: callable(ReadableStreamDefaultReader, 'ReadableStreamDefaultReader'),
    CountQueuingStrategy: callable(CountQueuingStrategy, 'CountQueuingStrategy'),
    ResponseBody: callable(ResponseBody, 'ResponseBody'),
  };
})
