package v1alpha1

// Phases of a PgBenchmark, in the order it passes them. The runner reports those from
// MeasuringLayers to CheckingIntegrity; a benchmark keeps Succeeded and Failed.
const (
	// PhasePending waits until the target can be measured.
	PhasePending = "Pending"
	// PhasePreparing creates the database, its role and the Job of the runner.
	PhasePreparing = "Preparing"
	// PhaseMeasuringLayers measures the storage below Postgres.
	PhaseMeasuringLayers = "MeasuringLayers"
	// PhaseInitialising loads the tables of pgbench.
	PhaseInitialising = "Initialising"
	// PhaseWarmingUp runs pgbench and discards its figures.
	PhaseWarmingUp = "WarmingUp"
	// PhaseRunning runs the measured runs.
	PhaseRunning = "Running"
	// PhaseCheckingIntegrity verifies the data after the runs.
	PhaseCheckingIntegrity = "CheckingIntegrity"
	// PhaseSucceeded has a result.
	PhaseSucceeded = "Succeeded"
	// PhaseFailed has no result; the condition Complete says why.
	PhaseFailed = "Failed"
)
