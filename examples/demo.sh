#!/bin/sh
# The demonstration: trains, proves, predicts and draws on small real tables. Needs the program `margin` on the PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
data=$here/data
out=${1:-${here%/*}/build/demo}
mkdir -p "$out"
cd "$out"
out=$(pwd)

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
# prints a command as one would type it
show() {
    line='$'
    for word in "$@"; do
        case $word in
        *[\ \|\(]*) line="$line '$word'" ;;
        *) line="$line ${word##*/}" ;;
        esac
    done
    printf '%s\n' "$line"
}
run() { show "$@"; "$@"; }
# for commands that are expected to answer "stopped early" (exit code 3)
run_stopped() { show "$@"; "$@" || [ $? -eq 3 ]; }

say '1. A textbook exercise: three points, the perceptron, every step'
run margin fit 'perceptron(order=first)' "$data/points.csv" -o points.margin --trace points-trace.csv
run cat points-trace.csv

say '2. Fisher'\''s iris, three classes: one perceptron per class, scaled inside, weights back in centimetres'
run_stopped margin fit 'standardize | perceptron(variant=pocket, order=shuffled, passes=200)' "$data/iris.csv" -o iris.margin
run margin evaluate iris.margin "$data/iris.csv"

say '3. Setosa against the others: separable? The widest hyperplane is the proof'
awk -F, 'NR > 1 { $5 = ($5 == "setosa") ? "setosa" : "other" } 1' OFS=, "$data/iris.csv" > setosa.csv
run margin separable setosa.csv

say '4. Versicolor against virginica: not separable, and this is why'
grep -v setosa "$data/iris.csv" > two.csv
run margin separable two.csv

say '5. Exclusive or: no line does it, a kernel does'
run margin fit 'perceptron(kernel=poly, degree=2)' "$data/xor.csv" -o xor.margin
run margin predict xor.margin "$data/xor.csv"

say '6. Pictures'
cut -d, -f3-5 "$data/iris.csv" > petals.csv
margin fit 'standardize | perceptron(kernel=rbf, sigma=0.5, passes=200)' petals.csv -o petals.margin > /dev/null || [ $? -eq 3 ]
if command -v gnuplot > /dev/null 2>&1; then
    margin plot boundary petals.margin petals.csv -o boundary.svg
    margin plot trace points-trace.csv -o trace.svg
    margin plot margins xor.margin "$data/xor.csv" -o margins.svg
    margin plot boundary petals.margin petals.csv --terminal
    printf 'pictures: %s/boundary.svg trace.svg margins.svg\n' "$out"
else
    echo 'gnuplot is not installed: no pictures'
fi

say 'What to try next'
cat <<END
  margin learners                        stages and learners that a spec may name
  margin learners perceptron             all options of one
  margin check FILE.csv                  what is in a table of yours
  margin fit 'standardize | perceptron' FILE.csv -o my.margin
  margin inspect my.margin               weights in original units
The models and pictures of this run are in $out
END
