package validity

// checks of one run, in display order.
var checks = []func(Facts) Finding{
	Flushed, DatasetSize, Checkpoints, ClientBound, Throttled, Autovacuum, Backup, Neighbours, Clock, Failures, Steady,
}

// Check one run by every check.
func Check(f Facts) []Finding {
	findings := make([]Finding, len(checks))
	for i, check := range checks {
		findings[i] = check(f)
	}
	return findings
}
