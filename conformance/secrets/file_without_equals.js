// A line of the file that is no pair.
// flags: --secret-source file=data.txt
// files: data.txt=data.json

export default function () {}
