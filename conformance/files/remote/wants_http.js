import 'http://127.0.0.1:1/a.js';
