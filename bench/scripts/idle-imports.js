// As idle.js, and every module is imported: what a script does not use must not cost its VUs anything.
//
// BASE_URL   the built-in target
// SLEEP      seconds to sleep
import crypto from 'k6/crypto';
import x509 from 'k6/crypto/x509';
import { SharedArray } from 'k6/data';
import encoding from 'k6/encoding';
import exec from 'k6/execution';
import csv from 'k6/experimental/csv';
import fs from 'k6/experimental/fs';
import streams from 'k6/experimental/streams';
import { parseHTML } from 'k6/html';
import http from 'k6/http';
import { Trend } from 'k6/metrics';
import grpc from 'k6/net/grpc';
import secrets from 'k6/secrets';
import timers from 'k6/timers';
import { WebSocket } from 'k6/websockets';
import ws from 'k6/ws';
import { check, sleep } from 'k6';

const URL = `${__ENV.BASE_URL || 'http://127.0.0.1:8080'}/f/100`;
const SLEEP = Number(__ENV.SLEEP || 600);

export default function () {
  const res = http.get(URL);
  check(res, { 'status is 200': (r) => r.status === 200 });
  sleep(SLEEP);
}

// Never called: it keeps a bundler from leaving the imports out.
export function all() {
  return [crypto, x509, SharedArray, encoding, exec, csv, fs, streams, parseHTML, Trend, grpc, secrets, timers, WebSocket, ws];
}
