// A session over k6/http: a base URL, headers and tags for all requests.
import http from 'k6/http';
import { Trend } from 'k6/metrics';

const isRequest = (value) => typeof value === 'object' && value !== null && 'url' in value && 'name' in value && 'clean_url' in value;

export class Session {
  #base;
  constructor({ baseURL = '', headers = {}, tags = {}, ...params } = {}) {
    this.#base = baseURL;
    this.headers = headers;
    this.tags = tags;
    this.params = params;
    for (const method of ['get', 'head', 'post', 'put', 'patch', 'options']) {
      this[method] = (url, body, params) => this.request(method.toUpperCase(), url, body, params);
      this[`async${method[0].toUpperCase()}${method.slice(1)}`] = async (url, body, params) =>
        http.asyncRequest(method.toUpperCase(), this.address(url), body, this.merged(params));
    }
    this.delete = (url, body, params) => this.request('DELETE', url, body, params);
  }
  addHeader(name, value) { this.headers[name] = value; }
  addTag(name, value) { this.tags[name] = value; }
  address(url) { return isRequest(url) ? url : this.#base + url; }
  merged(params = {}) {
    return { ...this.params, ...params, headers: { ...this.headers, ...params?.headers }, tags: { ...this.tags, ...params?.tags } };
  }
  request(method, url, body, params) { return http.request(method, this.address(url), body ?? null, this.merged(params)); }
  batch(requests, params) {
    return http.batch(requests.map((one) => ({ method: one.method, url: this.address(one.url), body: one.body, params: this.merged({ ...params, ...one.params }) })));
  }
}
