#!/bin/sh
# The demonstration: trains, proves, predicts and draws on small real tables. Needs the program `margin` on the PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
data=$here/data
out=${1:-${here%/*}/build/demo}
mkdir -p "$out"
cd "$out"
out=$(pwd)

# bold on a terminal only
bold= plain=
if [ -t 1 ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
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

say '6. Regression: braking distance over speed, with standard errors'
run margin fit 'least-squares' "$data/cars.csv" -o cars.margin
run margin inspect cars.margin --statistics "$data/cars.csv"

say '7. A curve instead of a line: radial basis functions, ridge'
run margin fit 'rbf(centres=8, pick=even, sigma=spacing) | ridge(alpha=0.1)' "$data/cars.csv" --holdout 0.3 -o curve.margin

say '8. Three cultivars of wine: probabilities of all classes together, and the proof recomputed from the table'
run margin fit 'standardize | softmax(C=1)' "$data/wine.csv" --holdout 0.3 -o wine.margin
run margin evaluate --verify wine.margin "$data/wine.csv" --holdout 0.3

say '9. The same wine: support vectors, neighbours, naive Bayes'
run margin fit 'standardize | svm(C=1)' "$data/wine.csv" -o svm.margin
run margin fit 'standardize | knn(k=5)' "$data/wine.csv" -o knn.margin
run margin fit naive-bayes "$data/wine.csv" -o bayes.margin

say '10. Without the cultivars: how many groups are there?'
run margin plot elbow 'standardize | kmeans(k={1..6})' "$data/wine.csv" --ignore cultivar -o elbow.svg

say '11. Pictures'
cut -d, -f3-5 "$data/iris.csv" > petals.csv
margin fit 'standardize | perceptron(kernel=rbf, sigma=0.5, passes=200)' petals.csv -o petals.margin > /dev/null || [ $? -eq 3 ]
margin fit 'knn(k=5)' petals.csv -o neighbours.margin > /dev/null
margin fit 'kmeans(k=3)' petals.csv --ignore species -o clusters.margin > /dev/null
if command -v gnuplot > /dev/null 2>&1; then
    margin plot boundary petals.margin petals.csv -o boundary.svg
    margin plot boundary neighbours.margin petals.csv -o neighbours.svg
    margin plot clusters clusters.margin petals.csv --ignore species -o clusters.svg
    margin plot fit curve.margin "$data/cars.csv" -o fit.svg
    margin plot residuals cars.margin "$data/cars.csv" -o residuals.svg
    margin plot trace points-trace.csv -o trace.svg
    margin plot margins xor.margin "$data/xor.csv" -o margins.svg
    margin plot boundary petals.margin petals.csv --terminal
    printf 'pictures in %s: boundary neighbours clusters elbow fit residuals trace margins (.svg)\n' "$out"
else
    echo 'gnuplot is not installed: no pictures'
fi

say 'What to try next'
cat <<END
  export PATH=$(dirname "$(command -v margin)"):\$PATH    so that the shell finds margin
  margin learners                        stages and learners that a spec may name
  margin learners svm                    all options of one
  margin check FILE.csv                  what is in a table of yours
  margin fit 'standardize | svm' FILE.csv -o my.margin
  margin inspect my.margin               weights in original units
The models and pictures of this run are in $out
END
