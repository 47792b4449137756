import './not_there.js';
