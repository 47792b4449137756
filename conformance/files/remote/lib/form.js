// Form data: a function in UMD's clothes.
(function (root, factory) {
  if (typeof define === 'function' && define.amd) define([], factory);
  else if (typeof module === 'object' && typeof exports !== 'undefined') module.exports = factory();
  else root.form = factory();
})(typeof globalThis === 'object' ? globalThis : this || self, function () {
  const encode = (text) => encodeURIComponent(text).replace(/%20/g, '+').replace(/[!'()~*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  const pairs = (value, name) => {
    if (Array.isArray(value)) return value.flatMap((item, i) => pairs(item, `${name}[${i}]`));
    if (value !== null && typeof value === 'object') return Object.entries(value).flatMap(([key, item]) => pairs(item, name ? `${name}[${key}]` : key));
    return [`${encode(name)}=${encode(value ?? '')}`];
  };
  return function (data, { sorted = false } = {}) {
    const all = pairs(data, '');
    return (sorted ? all.sort() : all).join('&');
  };
});
