package validity

import (
	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Verdict of a check.
type Verdict string

// The verdicts, best first.
const (
	Passed   Verdict = "Passed"
	NotRun   Verdict = "NotRun"
	Caution  Verdict = "Caution"
	Rejected Verdict = "Rejected"
)

// Names of the checks.
const (
	CheckFlush      = "Flush"
	CheckDataset    = "Dataset"
	CheckCheckpoint = "Checkpoint"
	CheckClient     = "Client"
	CheckThrottling = "Throttling"
	CheckAutovacuum = "Autovacuum"
	CheckBackup     = "Backup"
	CheckNeighbours = "Neighbours"
	CheckClock      = "Clock"
	CheckFailures   = "Failures"
	CheckSteadiness = "Steadiness"
	CheckRepeats    = "Repeats"
)

// Reasons of findings. Those that reject a run are reasons of a condition too.
const (
	ReasonPassed      = "Passed"
	ReasonNotObserved = "NotObserved"

	ReasonFlushNotHonoured       = v1alpha1.ReasonFlushNotHonoured
	ReasonCommitBelowFlushFloor  = v1alpha1.ReasonCommitBelowFlushFloor
	ReasonDatasetInSharedBuffers = "DatasetInSharedBuffers"
	ReasonDatasetInMemory        = "DatasetInMemory"
	ReasonCheckpointInRun        = "CheckpointInRun"
	ReasonNoCheckpointInRun      = "NoCheckpointInRun"
	ReasonClientBound            = v1alpha1.ReasonClientBound
	ReasonPodThrottled           = v1alpha1.ReasonPodThrottled
	ReasonCPULimitReached        = "CPULimitReached"
	ReasonAutovacuumRunning      = "AutovacuumRunning"
	ReasonBackupRunning          = v1alpha1.ReasonBackupRunning
	ReasonProcessorStolen        = v1alpha1.ReasonProcessorStolen
	ReasonNoisyNeighbours        = "NoisyNeighbours"
	ReasonClockJumped            = v1alpha1.ReasonClockJumped
	ReasonTransactionsFailed     = "TransactionsFailed"
	ReasonLevelChanged           = "LevelChanged"
	ReasonTooFewRepeats          = "TooFewRepeats"
	ReasonWideSpread             = "WideSpread"
	ReasonOutlyingRepeat         = "OutlyingRepeat"
)

// Finding of one check.
type Finding struct {
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason"`
	// Message says what was observed, what is wrong with it and what to do.
	Message string `json:"message"`
}

// Worst verdict of findings; Passed without any.
func Worst(findings []Finding) Verdict {
	worst := Passed
	for _, f := range findings {
		if severity[f.Verdict] > severity[worst] {
			worst = f.Verdict
		}
	}
	return worst
}

// Worse reports whether verdict a is worse than b.
func Worse(a, b Verdict) bool { return severity[a] > severity[b] }

var severity = map[Verdict]int{Passed: 0, NotRun: 1, Caution: 2, Rejected: 3}

func passed(check, message string) Finding {
	return Finding{check, Passed, ReasonPassed, message}
}

func notRun(check, missing string) Finding {
	return Finding{check, NotRun, ReasonNotObserved, missing + " was not observed"}
}
