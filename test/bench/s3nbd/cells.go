//go:build linux

package s3nbd

import "time"

// Cell is one measured run that writes.
type Cell struct {
	Round         int
	Configuration string
	// Host is of those on the host's own processors, where commit_delay is compared.
	Host    bool
	Clients int
	// DelayMicros and Siblings are commit_delay and commit_siblings.
	DelayMicros int64
	Siblings    int

	TPS          float64
	Transactions int64
	// P50 and P95 of the transactions' latencies, in milliseconds.
	P50, P95 float64
	// Busy is the part of the processors that worked.
	Busy float64
	// Disk is what the kernel counted on the devices.
	Disk Disk
	// WALSyncs of Postgres, and what they took together.
	WALSyncs    int64
	WALSyncTime float64 // ms
	// Requests to the store by kind, and bytes of bodies, until a sync of the file system after
	// the run.
	Requests       map[string]int
	Sent, Received int64
}

// Disk counts what all network block devices did.
type Disk struct {
	Reads, ReadBytes, Writes, WriteBytes, Flushes int64
	// FlushMillis is how long all flushes took together.
	FlushMillis int64
}

// Since then.
func (d Disk) Since(then Disk) Disk {
	return Disk{
		d.Reads - then.Reads, d.ReadBytes - then.ReadBytes, d.Writes - then.Writes, d.WriteBytes - then.WriteBytes,
		d.Flushes - then.Flushes, d.FlushMillis - then.FlushMillis,
	}
}

// Read is one measured run that only reads.
type Read struct {
	Variant string
	Run     int
	TPS     float64
	// Transactions, and Blocks that Postgres read from the file system for them.
	Transactions, Blocks int64
	// Hits of the ARC and, of its Misses, Hits2 of the L2ARC.
	Hits, Misses, Hits2 int64
	// DeviceReads are requests to the devices, Gets and Received those to the store.
	DeviceReads, Gets, Received int64
	Busy                        float64
	// ARCBytes and L2Bytes that the caches have after it.
	ARCBytes, L2Bytes int64
}

// Facts of a run, for the report.
type Facts struct {
	Versions string
	// DatabaseBytes once it was filled, and SharedBuffers.
	DatabaseBytes int64
	SharedBuffers string
	// Flush is the flush latency as the agent reported it under the load of 16 clients without
	// commit_delay. Derived is the commit_delay in µs that follows.
	Flush   time.Duration
	Derived int64
	// Siblings is commit_siblings as derived.
	Siblings int
	// HostFlush is the flush latency that the host's kernel measured under the same load.
	HostFlush time.Duration
	// Datasets have a line "name property value source" for each property that the
	// figures depend on.
	Datasets []string
	// RelayFlushes are the flushes that the relay counted, KernelFlushes the kernel.
	RelayFlushes, KernelFlushes int64
}
