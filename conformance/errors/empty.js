// A script of comments only.
