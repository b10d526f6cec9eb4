package observed

// Volumes of a database: the capacity in bytes of the smallest volume of any instance.
type Volumes struct {
	// Data volume; zero while no claim has a capacity.
	Data int64
	// WAL volume; zero where the WAL is on the data volume.
	WAL int64
}
