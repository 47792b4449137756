console.log('before');
throw new Error('init fails');
export default function () {}
