#!/bin/sh
# strip.sh PROGRAM FOLDER: a stripped copy of the program, and its symbols in a file beside it. Debuggers and the
# backtrace of a panic find the symbols through the link in the program, as long as both are in one folder.
set -eu

program=$1
folder=$2
name=$(basename "$program")
mkdir -p "$folder"
objcopy --only-keep-debug "$program" "$folder/$name.debug"
objcopy --strip-all "$program" "$folder/$name.new"
(cd "$folder" && objcopy --add-gnu-debuglink="$name.debug" "$name.new")
mv -f "$folder/$name.new" "$folder/$name"
chmod 755 "$folder/$name"
chmod 644 "$folder/$name.debug"
