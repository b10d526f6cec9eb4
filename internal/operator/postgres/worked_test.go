package postgres

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/internal/bench/durability"
)

// worked are scenarios with every value calculated by hand from pgtune's rules, in kB
// without a unit. work_mem is (memory - shared_buffers) / ((connections + workers) x 3
// x the class' divisor). Workers are the CPUs from 4, else 8. wal_buffers are 3% of
// shared_buffers in whole pages of 8kB, 16MB from 14MB. WAL is limited to half of its
// own volume, or to a tenth of the data volume. wal_keep_size is limited to an eighth
// or a twentieth, in segments of 16MB, and to 512MB. The autovacuum workers (3, 4 from
// 16 CPUs, 5 from 32) share one maintenance_work_mem, in whole MB. Where memory does
// not hold the connections of the class, the comment has the sum.
var worked = []struct {
	name string
	in   Inputs
	want string
}{
	{
		"Web 512MB 1 CPU SSD, WAL with data",
		Inputs{Major: 17, Workload: Web, Medium: SSD, Tier: durability.Local, Instances: 1, MemoryBytes: 512 * mB, CPUs: 1, DataBytes: 10 * gB},
		// 512 - 64 - 62 of maintenance - 152 shared = 234. A connection takes 2.25, a
		// third of 4 and 0.06 shared = 3.64. 63 with 5 vacuum, senders, 2 workers; tens
		"max_connections=50 shared_buffers=128MB effective_cache_size=384MB maintenance_work_mem=32MB " + // 512/4, 512x3/4, 512/16
			"wal_buffers=3928kB work_mem=4MB " + // 131072x3/100 = 3932 = 491 pages; (524288-131072)/(208x3) = 630, floor
			"max_wal_size=1GB min_wal_size=512MB " + // 10GB/10; half of it
			"autovacuum_work_mem=10MB max_parallel_workers=2 huge_pages=off " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=200 jit=off synchronous_commit=on",
	},
	{
		"Web 8GB 4 CPUs SSD, WAL volume, Quorum",
		Inputs{Major: 17, Workload: Web, Medium: SSD, Tier: durability.Quorum, Instances: 3, MemoryBytes: 8 * gB, CPUs: 4, DataBytes: 200 * gB, WALBytes: 20 * gB},
		"max_connections=200 shared_buffers=2GB effective_cache_size=6GB maintenance_work_mem=512MB " + // 8/4, 8x3/4, 8192/16
			"wal_buffers=16MB work_mem=10280kB " + // 3% of 2GB = 61MB; (8388608-2097152)/(204x3) = 6291456/612 = 10280.2
			"max_wal_size=4GB min_wal_size=1GB " + // 4GB is below 20GB/2
			"max_parallel_workers=4 max_parallel_workers_per_gather=2 max_parallel_maintenance_workers=2 " +
			"autovacuum_work_mem=170MB huge_pages=off " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=200 jit=off synchronous_commit=on",
	},
	{
		"Web 64GB 32 CPUs SAN, WAL with data, Async",
		Inputs{Major: 18, Workload: Web, Medium: SAN, Tier: durability.Async, Instances: 2, MemoryBytes: 64 * gB, CPUs: 32, DataBytes: 1000 * gB},
		"max_connections=200 shared_buffers=16GB effective_cache_size=48GB maintenance_work_mem=2GB " + // 64/16 = 4, held to 2
			"wal_buffers=16MB work_mem=72315kB " + // (67108864-16777216)/(232x3) = 50331648/696 = 72315.6
			"max_wal_size=4GB min_wal_size=1GB " + // 4GB is below 1000GB/10
			"max_parallel_workers=32 max_parallel_workers_per_gather=4 max_parallel_maintenance_workers=4 autovacuum_max_workers=5 " + // 32/2 held to 4
			"autovacuum_work_mem=409MB huge_pages=off " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=300 jit=off synchronous_commit=off",
	},
	{
		"Web 2GB 2 CPUs HDD, small WAL volume",
		Inputs{Major: 15, Workload: Web, Medium: HDD, Tier: durability.Local, Instances: 1, MemoryBytes: 2 * gB, CPUs: 2, DataBytes: 50 * gB, WALBytes: 5 * gB},
		"max_connections=200 shared_buffers=512MB effective_cache_size=1536MB maintenance_work_mem=128MB " + // 2048/4, 2048x3/4, 2048/16
			"wal_buffers=16MB work_mem=4MB " + // 524288x3/100 = 15728, above 14336; (2097152-524288)/624 = 2520, floor
			"max_wal_size=2560MB min_wal_size=1GB " + // 5120MB/2; 1GB is below 1280MB
			"autovacuum_work_mem=42MB max_parallel_workers=2 huge_pages=off " +
			"default_statistics_target=100 random_page_cost=4 effective_io_concurrency=2 jit=off synchronous_commit=on",
	},
	{
		"Web 8GB 1 CPU, 600 connections",
		Inputs{Major: 16, Workload: Web, Medium: SSD, Tier: durability.Local, Instances: 2, MemoryBytes: 8 * gB, CPUs: 1, DataBytes: 30 * gB, User: map[string]string{"max_connections": "600"}},
		"max_connections=600 shared_buffers=2GB effective_cache_size=6GB maintenance_work_mem=512MB " +
			"wal_buffers=16MB work_mem=4MB " + // 6291456/(608x3) = 3449, floor
			"max_wal_size=3GB min_wal_size=1GB " + // 30GB/10; 1GB is below 1.5GB
			"autovacuum_work_mem=170MB max_parallel_workers=2 huge_pages=off " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=200 jit=off synchronous_commit=on",
	},
	{
		"Web 1GB, shared_buffers of 64MB",
		Inputs{Major: 14, Workload: Web, Medium: SSD, Tier: durability.Local, Instances: 1, MemoryBytes: gB, CPUs: 1, User: map[string]string{"shared_buffers": "64MB"}},
		"max_connections=200 shared_buffers=64MB effective_cache_size=768MB maintenance_work_mem=64MB " +
			"wal_buffers=1960kB work_mem=4MB " + // 65536x3/100 = 1966 = 245 pages; (1048576-65536)/624 = 1575, floor
			"max_wal_size=4GB min_wal_size=1GB " + // no volume is known
			"autovacuum_work_mem=21MB max_parallel_workers=2 huge_pages=off " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=200 jit=off synchronous_commit=on",
	},
	{
		"Web 2GB, shared_buffers of 460MB: 3% is just below 14MB",
		Inputs{Major: 17, Workload: Web, Medium: SSD, Tier: durability.Local, Instances: 1, MemoryBytes: 2 * gB, CPUs: 2, DataBytes: 10 * gB, User: map[string]string{"shared_buffers": "460MB"}},
		"max_connections=200 shared_buffers=460MB effective_cache_size=1536MB maintenance_work_mem=128MB " +
			"wal_buffers=14128kB work_mem=4MB " + // 471040x3/100 = 14131 = 1766 pages; (2097152-471040)/624 = 2605, floor
			"max_wal_size=1GB min_wal_size=512MB " +
			"autovacuum_work_mem=42MB max_parallel_workers=2 huge_pages=off " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=200 jit=off synchronous_commit=on",
	},
	{
		"Web, memory not stated",
		Inputs{Major: 17, Workload: Web, Medium: SSD, Tier: durability.Quorum, Instances: 3, CPUs: 2, DataBytes: 100 * gB},
		"max_connections=200 max_wal_size=4GB min_wal_size=1GB " + // 4GB is below 100GB/10
			"max_parallel_workers=2 huge_pages=off " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=200 jit=off synchronous_commit=on",
	},
	{
		"OLTP 1GB 2 CPUs HDD, WAL with data, Quorum",
		Inputs{Major: 17, Workload: OLTP, Medium: HDD, Tier: durability.Quorum, Instances: 3, MemoryBytes: gB, CPUs: 2, DataBytes: 20 * gB},
		// 1024 - 64 - 127 - 285 shared = 548; 9 others x 2.5 = 23. (525 - 3)/(2.5 + 4/3
		// + 0.06) = 134; tens
		"max_connections=130 shared_buffers=256MB effective_cache_size=768MB maintenance_work_mem=64MB " + // 1024/4, 1024x3/4, 1024/16
			"wal_buffers=7864kB work_mem=4MB " + // 262144x3/100 = 7864 = 983 pages; (1048576-262144)/(308x3) = 851, floor
			"max_wal_size=2GB min_wal_size=1GB " + // 20GB/10; half of it
			"autovacuum_work_mem=21MB max_parallel_workers=2 huge_pages=off " +
			"default_statistics_target=100 random_page_cost=4 effective_io_concurrency=2 jit=off synchronous_commit=on",
	},
	{
		"OLTP 16GB 4 CPUs SSD, WAL volume",
		base,
		"max_connections=300 shared_buffers=4GB effective_cache_size=12GB maintenance_work_mem=1GB " + // 16/4, 16x3/4, 16/16
			"wal_buffers=16MB work_mem=13797kB " + // 3% of 4GB = 122MB; (16777216-4194304)/(304x3) = 12582912/912 = 13797.1
			"max_wal_size=8GB min_wal_size=2GB " + // 8GB is below 20GB/2
			"max_parallel_workers=4 max_parallel_workers_per_gather=2 max_parallel_maintenance_workers=2 " +
			"autovacuum_work_mem=341MB huge_pages=off " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=200 jit=off synchronous_commit=on",
	},
	{
		"OLTP 16GB 8 CPUs SSD, 100 connections",
		Inputs{Major: 17, Workload: OLTP, Medium: SSD, Tier: durability.Local, Instances: 3, MemoryBytes: 16 * gB, CPUs: 8, DataBytes: 100 * gB, WALBytes: 20 * gB, User: map[string]string{"max_connections": "100"}},
		"max_connections=100 shared_buffers=4GB effective_cache_size=12GB maintenance_work_mem=1GB " +
			"wal_buffers=16MB work_mem=38836kB " + // 12582912/(108x3) = 12582912/324 = 38836.1
			"max_wal_size=8GB min_wal_size=2GB " +
			"max_parallel_workers=8 max_parallel_workers_per_gather=4 max_parallel_maintenance_workers=4 " +
			"autovacuum_work_mem=341MB huge_pages=off " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=200 jit=off synchronous_commit=on",
	},
	{
		"OLTP 10GB 5 CPUs SSD: halves are rounded up",
		Inputs{Major: 17, Workload: OLTP, Medium: SSD, Tier: durability.Local, Instances: 3, MemoryBytes: 10 * gB, CPUs: 5, DataBytes: 30 * gB},
		"max_connections=300 shared_buffers=2560MB effective_cache_size=7680MB maintenance_work_mem=640MB " + // 10240/4, 10240x3/4, 10240/16
			"wal_buffers=16MB work_mem=8594kB " + // (10485760-2621440)/(305x3) = 7864320/915 = 8594.9
			"max_wal_size=3GB min_wal_size=1536MB " + // 30GB/10; half of it
			"max_parallel_workers=5 max_parallel_workers_per_gather=3 max_parallel_maintenance_workers=3 " +
			"autovacuum_work_mem=213MB huge_pages=off " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=200 jit=off synchronous_commit=on",
	},
	{
		"OLTP 128GB 32 CPUs SAN, WAL with data, Quorum",
		Inputs{Major: 17, Workload: OLTP, Medium: SAN, Tier: durability.Quorum, Instances: 3, MemoryBytes: 128 * gB, CPUs: 32, DataBytes: 2000 * gB},
		"max_connections=300 shared_buffers=32GB effective_cache_size=96GB maintenance_work_mem=2GB " + // 128/16 = 8, held to 2
			"wal_buffers=16MB work_mem=101067kB " + // (134217728-33554432)/(332x3) = 100663296/996 = 101067.6
			"max_wal_size=8GB min_wal_size=2GB " + // 8GB is below 2000GB/10
			"max_parallel_workers=32 max_parallel_workers_per_gather=4 max_parallel_maintenance_workers=4 autovacuum_max_workers=5 " +
			"autovacuum_work_mem=409MB huge_pages=off " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=300 jit=off synchronous_commit=on",
	},
	{
		"OLTP 256GB 64 CPUs SSD, WAL volume, 500 connections, Async",
		Inputs{Major: 17, Workload: OLTP, Medium: SSD, Tier: durability.Async, Instances: 2, MemoryBytes: 256 * gB, CPUs: 64, DataBytes: 4000 * gB, WALBytes: 10 * gB, User: map[string]string{"max_connections": "500"}},
		"max_connections=500 shared_buffers=64GB effective_cache_size=192GB maintenance_work_mem=2GB " + // 256/16 = 16, held to 2
			"wal_buffers=16MB work_mem=118987kB " + // (268435456-67108864)/(564x3) = 201326592/1692 = 118987.3
			"max_wal_size=5GB min_wal_size=2GB " + // 10GB/2; 2GB is below 2.5GB
			"max_worker_processes=64 max_parallel_workers=64 max_parallel_workers_per_gather=4 max_parallel_maintenance_workers=4 autovacuum_max_workers=5 " + // 64 is above CloudNativePG's 32
			"autovacuum_work_mem=409MB huge_pages=off " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=200 jit=off synchronous_commit=off",
	},
	{
		"Analytics 1GB 1 CPU HDD, WAL with data",
		Inputs{Major: 17, Workload: Analytics, Medium: HDD, Tier: durability.Local, Instances: 1, MemoryBytes: gB, CPUs: 1, DataBytes: 40 * gB},
		"max_connections=40 shared_buffers=256MB effective_cache_size=768MB maintenance_work_mem=128MB " + // 1024/4, 1024x3/4, 1024/8
			"wal_buffers=7864kB work_mem=4MB " + // 983 pages; (1048576-262144)/(48x3x2) = 786432/288 = 2730, floor
			"max_wal_size=4GB min_wal_size=2GB " + // 16GB held to 40GB/10; 4GB held to half of that
			"autovacuum_work_mem=42MB max_parallel_workers=2 huge_pages=off " +
			"default_statistics_target=500 random_page_cost=4 effective_io_concurrency=2 synchronous_commit=on",
	},
	{
		"Analytics 8GB 2 CPUs SSD, large WAL volume",
		Inputs{Major: 17, Workload: Analytics, Medium: SSD, Tier: durability.Local, Instances: 3, MemoryBytes: 8 * gB, CPUs: 2, DataBytes: 100 * gB, WALBytes: 100 * gB},
		"max_connections=40 shared_buffers=2GB effective_cache_size=6GB maintenance_work_mem=1GB " + // 8/8
			"wal_buffers=16MB work_mem=21845kB " + // 6291456/288 = 21845.3
			"max_wal_size=16GB min_wal_size=4GB " + // 16GB is below 100GB/2
			"autovacuum_work_mem=341MB max_parallel_workers=2 huge_pages=off " +
			"default_statistics_target=500 random_page_cost=1.1 effective_io_concurrency=200 synchronous_commit=on",
	},
	{
		"Analytics 16GB 8 CPUs SAN, WAL with data, Quorum",
		Inputs{Major: 14, Workload: Analytics, Medium: SAN, Tier: durability.Quorum, Instances: 3, MemoryBytes: 16 * gB, CPUs: 8, DataBytes: 300 * gB},
		"max_connections=40 shared_buffers=4GB effective_cache_size=12GB maintenance_work_mem=2GB " + // 16/8
			"wal_buffers=16MB work_mem=43690kB " + // (16777216-4194304)/(48x3x2) = 12582912/288 = 43690.7
			"max_wal_size=16GB min_wal_size=4GB " + // 16GB is below 300GB/10
			"max_parallel_workers=8 max_parallel_workers_per_gather=4 max_parallel_maintenance_workers=4 " +
			"autovacuum_work_mem=682MB huge_pages=off " +
			"default_statistics_target=500 random_page_cost=1.1 effective_io_concurrency=300 synchronous_commit=on",
	},
	{
		"Analytics 64GB 16 CPUs HDD, WAL volume",
		Inputs{Major: 17, Workload: Analytics, Medium: HDD, Tier: durability.Local, Instances: 3, MemoryBytes: 64 * gB, CPUs: 16, DataBytes: 100 * gB, WALBytes: 20 * gB},
		"max_connections=40 shared_buffers=16GB effective_cache_size=48GB maintenance_work_mem=2GB " + // 64/8 = 8, held to 2
			"wal_buffers=16MB work_mem=149796kB " + // (67108864-16777216)/(56x3x2) = 50331648/336 = 149796.6
			"max_wal_size=10GB min_wal_size=4GB " + // 16GB held to 20GB/2; 4GB is below 5GB
			"max_parallel_workers=16 max_parallel_workers_per_gather=8 max_parallel_maintenance_workers=4 autovacuum_max_workers=4 " + // Analytics: half is not held to 4
			"autovacuum_work_mem=512MB huge_pages=off " +
			"default_statistics_target=500 random_page_cost=4 effective_io_concurrency=2 synchronous_commit=on",
	},
	{
		"Analytics 256GB 32 CPUs SSD, shared_buffers and connections given, Async",
		Inputs{Major: 18, Workload: Analytics, Medium: SSD, Tier: durability.Async, Instances: 1, MemoryBytes: 256 * gB, CPUs: 32, DataBytes: 5000 * gB, User: map[string]string{"shared_buffers": "100GB", "max_connections": "20"}},
		"max_connections=20 shared_buffers=100GB effective_cache_size=192GB maintenance_work_mem=2GB " +
			"wal_buffers=16MB work_mem=512MB " + // (268435456-104857600)/(52x3x2) = 163577856/312 = 524288
			"max_wal_size=16GB min_wal_size=4GB " + // 16GB is below 5000GB/10
			"max_parallel_workers=32 max_parallel_workers_per_gather=16 max_parallel_maintenance_workers=4 autovacuum_max_workers=5 " +
			"autovacuum_work_mem=409MB huge_pages=off " +
			"default_statistics_target=500 random_page_cost=1.1 effective_io_concurrency=200 synchronous_commit=off",
	},
	{
		"Desktop 512MB 1 CPU HDD, WAL with data",
		Inputs{Major: 17, Workload: Desktop, Medium: HDD, Tier: durability.Local, Instances: 1, MemoryBytes: 512 * mB, CPUs: 1, DataBytes: 5 * gB},
		"max_connections=20 shared_buffers=32MB effective_cache_size=128MB maintenance_work_mem=32MB " + // 512/16, 512/4, 512/16
			"wal_buffers=976kB work_mem=4MB " + // 32768x3/100 = 983 = 122 pages; (524288-32768)/(28x3x6) = 491520/504 = 975, floor
			"max_wal_size=512MB min_wal_size=100MB " + // 5120MB/10; 100MB is below 256MB
			"autovacuum_work_mem=10MB max_parallel_workers=2 huge_pages=off wal_keep_size=256MB " +
			"default_statistics_target=100 random_page_cost=4 effective_io_concurrency=2 synchronous_commit=on",
	},
	{
		"Desktop 2GB 1 CPU SAN, WAL with data",
		Inputs{Major: 17, Workload: Desktop, Medium: SAN, Tier: durability.Local, Instances: 1, MemoryBytes: 2 * gB, CPUs: 1, DataBytes: 10 * gB},
		"max_connections=20 shared_buffers=128MB effective_cache_size=512MB maintenance_work_mem=128MB " + // 2048/16, 2048/4, 2048/16
			"wal_buffers=3928kB work_mem=4MB " + // 491 pages; (2097152-131072)/504 = 3900, floor
			"max_wal_size=1GB min_wal_size=100MB " +
			"autovacuum_work_mem=42MB max_parallel_workers=2 huge_pages=off " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=300 synchronous_commit=on",
	},
	{
		"Desktop 12GB 4 CPUs SSD, Async",
		Inputs{Major: 17, Workload: Desktop, Medium: SSD, Tier: durability.Async, Instances: 1, MemoryBytes: 12 * gB, CPUs: 4, DataBytes: 100 * gB},
		"max_connections=20 shared_buffers=768MB effective_cache_size=3GB maintenance_work_mem=768MB " + // 12288/16, 12/4, 12288/16
			"wal_buffers=16MB work_mem=27306kB " + // 786432x3/100 = 23592; (12582912-786432)/(24x3x6) = 11796480/432 = 27306.7
			"max_wal_size=2GB min_wal_size=100MB " + // 2GB is below 100GB/10
			"max_parallel_workers=4 max_parallel_workers_per_gather=2 max_parallel_maintenance_workers=2 " +
			"autovacuum_work_mem=256MB huge_pages=off " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=200 synchronous_commit=off",
	},
	{
		"Desktop 64GB 8 CPUs SSD, small WAL volume, Quorum",
		Inputs{Major: 17, Workload: Desktop, Medium: SSD, Tier: durability.Quorum, Instances: 2, MemoryBytes: 64 * gB, CPUs: 8, DataBytes: 500 * gB, WALBytes: 3 * gB},
		"max_connections=20 shared_buffers=4GB effective_cache_size=16GB maintenance_work_mem=2GB " + // 64/16, 64/4, 64/16 = 4 held to 2
			"wal_buffers=16MB work_mem=124830kB " + // (67108864-4194304)/(28x3x6) = 62914560/504 = 124830.5
			"max_wal_size=1536MB min_wal_size=100MB " + // 3072MB/2
			"max_parallel_workers=8 max_parallel_workers_per_gather=4 max_parallel_maintenance_workers=4 " +
			"autovacuum_work_mem=682MB huge_pages=off wal_keep_size=384MB " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=200 synchronous_commit=on",
	},
	{
		"Mixed 512MB 1 CPU SSD, WAL volume of 1GB",
		Inputs{Major: 17, Workload: Mixed, Medium: SSD, Tier: durability.Local, Instances: 1, MemoryBytes: 512 * mB, CPUs: 1, DataBytes: 2 * gB, WALBytes: gB},
		// as Web 512MB
		"max_connections=50 shared_buffers=128MB effective_cache_size=384MB maintenance_work_mem=32MB " +
			"wal_buffers=3928kB work_mem=4MB " + // 491 pages; (524288-131072)/(108x3x2) = 393216/648 = 606, floor
			"max_wal_size=512MB min_wal_size=256MB " + // 1024MB/2; half of it
			"autovacuum_work_mem=10MB max_parallel_workers=2 huge_pages=off wal_keep_size=128MB " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=200 jit=off synchronous_commit=on",
	},
	{
		"Mixed 1GB 1 CPU SSD, WAL volume of 100MB: four segments at least",
		Inputs{Major: 17, Workload: Mixed, Medium: SSD, Tier: durability.Local, Instances: 1, MemoryBytes: gB, CPUs: 1, DataBytes: 2 * gB, WALBytes: 100 * mB},
		"max_connections=100 shared_buffers=256MB effective_cache_size=768MB maintenance_work_mem=64MB " +
			"wal_buffers=7864kB work_mem=4MB " + // 983 pages; 786432/648 = 1213, floor
			"max_wal_size=64MB min_wal_size=32MB " + // 100MB/2 = 50MB, at least 64MB; half of it
			"autovacuum_work_mem=21MB max_parallel_workers=2 huge_pages=off wal_keep_size=0 " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=200 jit=off synchronous_commit=on",
	},
	{
		"Mixed 8GB 2 CPUs SAN, WAL with data",
		Inputs{Major: 17, Workload: Mixed, Medium: SAN, Tier: durability.Local, Instances: 3, MemoryBytes: 8 * gB, CPUs: 2, DataBytes: 80 * gB},
		"max_connections=100 shared_buffers=2GB effective_cache_size=6GB maintenance_work_mem=512MB " +
			"wal_buffers=16MB work_mem=9709kB " + // 6291456/(108x3x2) = 6291456/648 = 9709.04
			"max_wal_size=4GB min_wal_size=1GB " + // 4GB is below 80GB/10
			"autovacuum_work_mem=170MB max_parallel_workers=2 huge_pages=off " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=300 jit=off synchronous_commit=on",
	},
	{
		"Mixed 16GB 4 CPUs HDD, WAL volume, Async",
		Inputs{Major: 17, Workload: Mixed, Medium: HDD, Tier: durability.Async, Instances: 2, MemoryBytes: 16 * gB, CPUs: 4, DataBytes: 60 * gB, WALBytes: 6 * gB},
		"max_connections=100 shared_buffers=4GB effective_cache_size=12GB maintenance_work_mem=1GB " +
			"wal_buffers=16MB work_mem=20164kB " + // 12582912/(104x3x2) = 12582912/624 = 20164.9
			"max_wal_size=3GB min_wal_size=1GB " + // 6GB/2; 1GB is below 1.5GB
			"max_parallel_workers=4 max_parallel_workers_per_gather=2 max_parallel_maintenance_workers=2 " +
			"autovacuum_work_mem=341MB huge_pages=off " +
			"default_statistics_target=100 random_page_cost=4 effective_io_concurrency=2 jit=off synchronous_commit=off",
	},
	{
		"Mixed 1GB 1 CPU, volume of 4GB in memory, Ephemeral",
		Inputs{Major: 17, Workload: Mixed, Medium: SSD, Tier: durability.Ephemeral, Instances: 1, MemoryBytes: gB, CPUs: 1, DataBytes: 4 * gB},
		"max_connections=100 shared_buffers=256MB effective_cache_size=768MB maintenance_work_mem=64MB " +
			"wal_buffers=7864kB work_mem=4MB " + // 983 pages; 786432/648 = 1213, floor
			"max_wal_size=409MB min_wal_size=32MB wal_keep_size=192MB " + // 4096MB/10; two segments; 4096MB/20 = 204MB in segments
			"checkpoint_timeout=30min archive_timeout=0 fsync=off full_page_writes=off " +
			"autovacuum_work_mem=21MB max_parallel_workers=2 huge_pages=off " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=200 jit=off synchronous_commit=off",
	},
	{
		"Mixed 64GB 8 CPUs SSD, shared_buffers and max_wal_size given",
		Inputs{Major: 17, Workload: Mixed, Medium: SSD, Tier: durability.Local, Instances: 3, MemoryBytes: 64 * gB, CPUs: 8, DataBytes: 100 * gB, WALBytes: 20 * gB, User: map[string]string{"shared_buffers": "8GB", "max_wal_size": "1500MB"}},
		"max_connections=100 shared_buffers=8GB effective_cache_size=48GB maintenance_work_mem=2GB " + // 64/16 = 4, held to 2
			"wal_buffers=16MB work_mem=90617kB " + // (67108864-8388608)/(108x3x2) = 58720256/648 = 90617.7
			"max_wal_size=1500MB min_wal_size=750MB " + // 1GB held to half of 1500MB
			"max_parallel_workers=8 max_parallel_workers_per_gather=4 max_parallel_maintenance_workers=4 " +
			"autovacuum_work_mem=682MB huge_pages=off " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=200 jit=off synchronous_commit=on",
	},
	{
		"Mixed 128GB 8 CPUs SSD, WAL with data, Quorum",
		Inputs{Major: 16, Workload: Mixed, Medium: SSD, Tier: durability.Quorum, Instances: 3, MemoryBytes: 128 * gB, CPUs: 8, DataBytes: 1000 * gB},
		"max_connections=100 shared_buffers=32GB effective_cache_size=96GB maintenance_work_mem=2GB " +
			"wal_buffers=16MB work_mem=155344kB " + // (134217728-33554432)/(108x3x2) = 100663296/648 = 155344.6
			"max_wal_size=4GB min_wal_size=1GB " +
			"max_parallel_workers=8 max_parallel_workers_per_gather=4 max_parallel_maintenance_workers=4 " +
			"autovacuum_work_mem=682MB huge_pages=off " +
			"default_statistics_target=100 random_page_cost=1.1 effective_io_concurrency=200 jit=off synchronous_commit=on",
	},
}

func TestWorkedByHand(t *testing.T) {
	for _, c := range worked {
		t.Run(c.name, func(t *testing.T) {
			want := map[string]string{"checkpoint_completion_target": "0.9"}
			for _, g := range guards() {
				want[g.Name] = g.Value
			}
			for pair := range strings.FieldsSeq(c.want) {
				name, value, _ := strings.Cut(pair, "=")
				want[name] = value
			}
			if diff := cmp.Diff(want, computedValues(c.in)); diff != "" {
				t.Errorf("want -, computed +\n%s", diff)
			}
			ps, refusals := Compute(c.in)
			if len(refusals) > 0 {
				t.Error(refusals)
			}
			for _, p := range ps {
				if want := sourceOf(c.in, p.Name); p.Source != want {
					t.Errorf("%s is from %s, want %s", p.Name, p.Source, want)
				}
			}
		})
	}
}

func sourceOf(in Inputs, name string) Source {
	if _, given := in.User[name]; given {
		return FromUser
	}
	if waives(in.Tier, name) {
		return FromComputed
	}
	if foundations[name].guard || name == "synchronous_commit" {
		return FromSafety
	}
	return FromComputed
}
