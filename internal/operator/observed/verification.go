package observed

import (
	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	batchv1 "k8s.io/api/batch/v1"
)

// Verification has the facts about the verification of a database's backups.
type Verification struct {
	ForeignAPIs
	// Source is the database's own Cluster; nil when there is none.
	Source *cnpgv1.Cluster
	// Restored is the Cluster that the backups are restored into; nil when there is none.
	Restored *cnpgv1.Cluster
	// Foreign is what has the name of one of our objects and was not made by us; empty where
	// nothing has.
	Foreign string
	// NoRoom names a pool of the database's profile that lacks space; empty where none does.
	NoRoom string
	// Refusal is why the API server rejected what was to be made; empty where it did not.
	Refusal string
	// Recovery is the Job of CloudNativePG that restores; nil when there is none.
	Recovery *batchv1.Job
	// Job checks the restored database; nil when there is none.
	Job *batchv1.Job
	// Report is the termination message of its container; empty while there is none.
	Report string
	// Said is what a container of the Job said that ended in an error.
	Said string
	// Claims counts the volumes of the restored database.
	Claims int
}
