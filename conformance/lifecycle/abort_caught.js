// abort() cannot be caught.
import exec from 'k6/execution';
import { check } from 'k6';
export default function () { try { exec.test.abort(); } catch (error) { check(1, { caught: true }); } check(1, { after: true }); }
