import json, platform, statistics, sys
import numpy, scipy
from scipy import stats
rng = numpy.random.default_rng(20260916)
def r(x): return [float(repr(float(v))) for v in x]
out = {"tool": f"scipy {scipy.__version__}, numpy {numpy.__version__}, Python {platform.python_version()}",
 "command": "python3 tests/data/reference/reference.py > tests/data/reference/ranks.json",
 "two_sample": [], "paired": [], "median": [], "centre": []}
for n, m in [(3,3),(4,4),(5,5),(6,6),(5,7),(8,4),(10,12)]:
    x = numpy.round(rng.lognormal(3.9, .1, n), 3); y = numpy.round(rng.lognormal(4.0, .1, m), 3)
    t = stats.mannwhitneyu(x, y, alternative="two-sided", method="exact")
    out["two_sample"].append({"compare": r(x), "against": r(y), "p_value": float(t.pvalue),
      "median_of_pairwise_ratios": float(numpy.exp(numpy.median(numpy.log(numpy.divide.outer(x, y)).ravel())))})
for n in [5,6,8,10,15]:
    x = numpy.round(rng.lognormal(3.9, .1, n), 3); y = numpy.round(rng.lognormal(4.0, .1, n), 3)
    t = stats.wilcoxon(numpy.log(x / y), alternative="two-sided", method="exact")
    d = numpy.log(x / y); w = [(d[i] + d[j]) / 2 for i in range(n) for j in range(i, n)]
    out["paired"].append({"compare": r(x), "against": r(y), "p_value": float(t.pvalue),
      "geometric_walsh_median": float(numpy.exp(numpy.median(w)))})
for n in [3,5,6,9,10,17,20,40,99,100,101,250]:
    for asked in [.9,.95,.99]:
        best = None
        for l in range(1, n // 2 + 1):
            c = 1 - 2 * stats.binom.cdf(l - 1, n, .5)
            if c >= asked: best = (l, float(c))
        if best: out["median"].append({"n": n, "asked": asked, "rank": best[0], "coverage": best[1]})
for n in [1,2,4,5,9,10,11]:
    x = numpy.round(rng.lognormal(3.9, .5, n), 3)
    out["centre"].append({"values": r(x), "median": float(statistics.median(map(float, x))), "mean": float(statistics.fmean(map(float, x))), "trimmed_mean": float(stats.trim_mean(x, .2))})
print(json.dumps(out, indent=1))
