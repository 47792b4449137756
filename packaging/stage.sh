#!/bin/sh
# stage.sh PROGRAM FOLDER: what is installed beside the program, made by the program itself: shell completions.
set -eu

program=$1
folder=$2
mkdir -p "$folder/completions"
"$program" completion bash > "$folder/completions/onrush.bash"
"$program" completion fish > "$folder/completions/onrush.fish"
"$program" completion zsh > "$folder/completions/_onrush"
