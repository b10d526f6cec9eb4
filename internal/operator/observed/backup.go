package observed

import (
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
)

// Backup has the facts about the backups of a database that declares them.
type Backup struct {
	// At is when they were read.
	At time.Time
	// Store is nil where the ObjectStore does not exist.
	Store *ObjectStore
	// ForeignSchedule is a ScheduledBackup of another database that has the name of a declared
	// one; empty where there is none.
	ForeignSchedule string
	// SnapshotClass says that the VolumeSnapshotClass of the profile exists. It is read where a
	// schedule takes VolumeSnapshots, and so are Snapshots.
	SnapshotClass bool
	// Snapshots are the Backups of each such schedule by its name, of this database alone.
	Snapshots map[string][]*cnpgv1.Backup
	// Origin is the ObjectStore that the database is or was restored from; nil where it does
	// not exist, and of any other database.
	Origin *ObjectStore
}

// ObjectStore is what an ObjectStore of the Barman Cloud plugin declares and reports. Its
// author may be another than that of the database.
type ObjectStore struct {
	Retention       string
	WALCompression  string
	DataCompression string
	Encryption      string
	// Window of the server, as the plugin reports it. The zero value is none.
	Window RecoveryWindow
}

// RecoveryWindow is what of one server can be restored. Times that are not known are zero.
type RecoveryWindow struct {
	First, LastSuccess, LastFailure time.Time
}

// Archive is what a primary reports of its WAL archive.
type Archive struct {
	// Read says that the primary reported it.
	Read bool
	// At is when the answer was read, which the operator remembers for minutes.
	At time.Time
	// Last is when WAL was archived last; zero where it never was.
	Last time.Time
	// WAL is the file that was archived last, without its timeline; empty where it is not known.
	WAL string
	// Waiting counts the files that are complete and not archived.
	Waiting int64
}
