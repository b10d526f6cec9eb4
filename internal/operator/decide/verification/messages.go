package verification

// EventStarted is the reason of the event of a verification that starts.
const EventStarted = "VerificationStarted"

// Messages for users.
const (
	msgStarted        = "the newest backup is restored, to verify it"
	msgForeign        = "%s exists, and the operator did not create it: delete it, so that backups can be verified"
	msgRejected       = "no backup was verified, because the API server rejects what the operator creates for it: %s"
	msgNoRoom         = "no backup was verified, because %s: a restore takes space that the databases on it need. Free space, or add devices"
	msgNoSource       = "no backup was verified within %s, because the database has no CloudNativePG Cluster (%s)"
	msgRecoveryFailed = "the newest backup cannot be restored: Job %s failed, and was deleted. A database with spec.origin of this backup fails alike. The logs of its pods say why"
	msgRestoreLate    = "the newest backup was not restored within %s; CloudNativePG: %s. See spec.backup.verify.timeout, and the store"
	msgCheckLate      = "the newest backup was restored, and was not checked within %s: %s. See spec.backup.verify.timeout"
	msgNotChecked     = "the newest backup was restored, and could not be checked: %s"
	msgDamaged        = "the newest backup was restored, and is not what was backed up: %s"
	msgPartly         = "the newest backup was restored, and not all of it was checked: %s"
	msgVerified       = "the newest backup was restored, and every check passed"
)
