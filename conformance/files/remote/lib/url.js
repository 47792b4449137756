// URL and URLSearchParams for engines that have none, exported by name.
class Params {
  constructor(text = '') {
    this.list = String(text).replace(/^\?/, '').split('&').filter(Boolean).map((pair) => pair.split('=').map((part) => decodeURIComponent(part.replace(/\+/g, ' '))));
  }
  append(name, value) { this.list.push([name, String(value)]); }
  get(name) { return this.list.find(([key]) => key === name)?.[1] ?? null; }
  getAll(name) { return this.list.filter(([key]) => key === name).map(([, value]) => value); }
  *[Symbol.iterator]() { yield* this.list; }
  toString() { return this.list.map((pair) => pair.map((part) => encodeURIComponent(part)).join('=')).join('&'); }
}
class Address {
  constructor(text) {
    const found = /^([a-z]+:)\/\/([^/?#:]+)(?::(\d+))?([^?#]*)(\?[^#]*)?(#.*)?$/i.exec(text);
    if (!found) throw new TypeError(`Invalid URL: ${text}`);
    [, this.protocol, this.hostname, this.port = '', this.pathname = '/', , this.hash = ''] = found;
    this.searchParams = new Params(found[5]);
  }
  get search() { const text = this.searchParams.toString(); return text && `?${text}`; }
  get host() { return this.port ? `${this.hostname}:${this.port}` : this.hostname; }
  toString() { return `${this.protocol}//${this.host}${this.pathname || '/'}${this.search}${this.hash}`; }
}
exports.URL = typeof URL === 'undefined' ? Address : URL;
exports.URLSearchParams = typeof URLSearchParams === 'undefined' ? Params : URLSearchParams;
