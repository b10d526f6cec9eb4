package machine

// Where the kernel says it, as a container sees it. The cgroup is the container's
// own: version 2 (https://docs.kernel.org/admin-guide/cgroup-v2.html), or the
// hierarchies of version 1.
const (
	cpuStat   = "/sys/fs/cgroup/cpu.stat"
	cpuMax    = "/sys/fs/cgroup/cpu.max"
	memoryMax = "/sys/fs/cgroup/memory.max"
	cpuStall  = "/sys/fs/cgroup/cpu.pressure"
	ioStall   = "/sys/fs/cgroup/io.pressure"
	memStall  = "/sys/fs/cgroup/memory.pressure"

	oldCPUStat   = "/sys/fs/cgroup/cpu/cpu.stat"
	oldQuota     = "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"
	oldPeriod    = "/sys/fs/cgroup/cpu/cpu.cfs_period_us"
	oldMemoryMax = "/sys/fs/cgroup/memory/memory.limit_in_bytes"

	nodeStat     = "/proc/stat"
	nodeMemory   = "/proc/meminfo"
	nodeCPUStall = "/proc/pressure/cpu"
	nodeIOStall  = "/proc/pressure/io"
	nodeMemStall = "/proc/pressure/memory"
	bootID       = "/proc/sys/kernel/random/boot_id"
	kernel       = "/proc/sys/kernel/osrelease"
	hostname     = "/proc/sys/kernel/hostname"
	arcStats     = "/proc/spl/kstat/zfs/arcstats"
	mounts       = "/proc/self/mounts"
)

// Paths of all files that say something.
func Paths() []string {
	return []string{
		cpuStat, cpuMax, memoryMax, cpuStall, ioStall, memStall,
		oldCPUStat, oldQuota, oldPeriod, oldMemoryMax,
		nodeStat, nodeMemory, nodeCPUStall, nodeIOStall, nodeMemStall,
		bootID, kernel, hostname, arcStats, mounts,
	}
}

// MaxText is the most that is read of a file, in bytes.
const MaxText = 1 << 20
