package comparison

// simultaneous is the confidence of each of several intervals that hold together with a
// confidence (Bonferroni). Holm's correction is for P-values: it says whether there is a
// difference, and not whether the difference is beyond a share.
func simultaneous(confidence float64, comparisons int) float64 {
	return 1 - (1-confidence)/float64(max(comparisons, 1))
}

// BeyondAt reports whether the variant is worse than the baseline by at least a share. The
// confidence, as 0.99, is that of all comparisons of one question together. The whole interval
// is beyond the share. A gate fails on it.
func (d Difference) BeyondAt(share, confidence float64, comparisons int) bool {
	if d.Comparison == nil || share < 0 || d.P >= 1-confidence || !d.worse() {
		return false
	}
	interval := d.Comparison.IntervalAt(simultaneous(confidence, comparisons))
	if d.Comparison.Ratio > 1 {
		return interval.Lower >= 1+share
	}
	return interval.Upper <= 1-share
}

// ExcludesAt reports whether the variant is not worse than the baseline by a share or more,
// with a confidence of all comparisons together. Not even the worse end of the interval
// reaches the share.
func (d Difference) ExcludesAt(share, confidence float64, comparisons int) bool {
	if d.Comparison == nil {
		return false
	}
	interval := d.Comparison.IntervalAt(simultaneous(confidence, comparisons))
	if d.lowerIsBetter {
		return interval.Upper < 1+share
	}
	return interval.Lower > 1-share
}

// worse says that the ratio points to the bad side, claimed or not.
func (d Difference) worse() bool { return (d.Comparison.Ratio > 1) == d.lowerIsBetter }
