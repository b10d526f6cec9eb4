package observe

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/internal/kube/excerpt"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// The series of the queries in package component/monitoring.
const (
	settingMetric  = "cnpg_pgstorage_setting_info"
	overrideMetric = "cnpg_pgstorage_override_rows"
	followerMetric = "cnpg_pgstorage_follower_streams"
	// The metrics of an instance that receives WAL.
	streamingMetric = "cnpg_pgstorage_receiver_streaming"
	behindMetric    = "cnpg_pgstorage_receiver_behind_bytes"
	delayMetric     = "cnpg_pgstorage_receiver_delay_seconds"
	timelineMetric  = "cnpg_pgstorage_receiver_timeline"
	positionMetric  = "cnpg_pgstorage_receiver_position_bytes"
	keptMetric      = "cnpg_pgstorage_wal_kept_from_bytes"
	// The metrics of a WAL archive, which CloudNativePG's own queries and collector have.
	archivedMetric = "cnpg_pg_stat_archiver_last_archived_time"
	archivedFile   = "cnpg_pg_stat_archiver_last_archived_wal_start_lsn"
	waitingMetric  = "cnpg_collector_pg_wal_archive_status"

	// mostRows of an instance that are kept; its query returns no more.
	mostRows = 100
	// mostText is how much of one label is kept, in bytes. The longest are the
	// synchronous_standby_names of 16 instances.
	mostText = 2 << 10
	// mostName is how much of a name is kept: identifiers of Postgres have 63 bytes.
	mostName = 63
)

// scraped is what one instance reports.
type scraped struct {
	values        map[string]float64
	settings      map[string]string
	overrides     []observed.Override
	followers     []string
	overridesRead bool
	// receiver is nil where the instance does not report it.
	receiver *observed.Receiver
	// keptFrom is 0 where the instance does not report it.
	keptFrom int64
	archive  observed.Archive
}

// take one sample, whose labels contain what a tenant wrote. It keeps only the
// requested part of each family, up to a bound.
func (s *scraped) take(family string, labels map[string]string, value float64, wanted map[string]bool) {
	switch name := labels["name"]; family {
	case settingsMetric:
		if wanted[name] {
			s.values[name] = value
		}
	case settingMetric:
		s.setting(name, labels["value"])
	case overrideMetric:
		s.override(name, labels)
	case followerMetric:
		if value > 0 && len(s.followers) < mostRows {
			s.followers = append(s.followers, excerpt.Truncate(labels["application_name"], mostName))
		}
	case streamingMetric, behindMetric, delayMetric, timelineMetric, positionMetric:
		s.received(family, value)
	case keptMetric:
		s.keptFrom, _ = figure(value)
	default:
		s.archived(family, labels, value)
	}
}

// archived is one figure of the WAL archive. It is how many files wait for it, which was
// archived last, or when that was. The last two are -1 where none ever was.
func (s *scraped) archived(family string, labels map[string]string, value float64) {
	switch family {
	case waitingMetric:
		if labels["value"] == "ready" {
			s.archive.Waiting, _ = figure(value)
		}
		return
	case archivedFile:
		// The last 16 digits of the file's name, as one number.
		if n, ok := figure(value); ok && n > 0 {
			s.archive.WAL = fmt.Sprintf("%016X", n)
		}
		return
	}
	s.archive.Read = !math.IsNaN(value)
	if seconds, ok := figure(value); ok && seconds > 0 && seconds < 1<<40 {
		s.archive.Last = time.Unix(seconds, 0).UTC()
	}
}

// received is one figure of a receiver of WAL.
func (s *scraped) received(family string, value float64) {
	n, ok := figure(value)
	if !ok {
		return
	}
	if s.receiver == nil {
		s.receiver = &observed.Receiver{}
	}
	switch family {
	case streamingMetric:
		s.receiver.Streaming = n == 1
	case behindMetric:
		s.receiver.Behind = n
	case delayMetric:
		s.receiver.Delay = n
	case timelineMetric:
		s.receiver.Timeline = n
	case positionMetric:
		s.receiver.Position = n
	}
}

// figure is a value that is a number and not negative.
func figure(value float64) (int64, bool) {
	if math.IsNaN(value) || value < 0 {
		return 0, false
	}
	return int64(min(value, 1<<62)), true
}

func (s *scraped) setting(name, value string) {
	if !slices.Contains(postgres.FoundationNames(), name) {
		return
	}
	if s.settings == nil {
		s.settings = map[string]string{}
	}
	s.settings[name] = excerpt.Truncate(value, mostText)
}

// override of a role or database. The one without a name says that they were read.
func (s *scraped) override(name string, labels map[string]string) {
	s.overridesRead = true
	if name == "" || len(s.overrides) >= mostRows {
		return
	}
	s.overrides = append(s.overrides, observed.Override{
		Database: excerpt.Truncate(labels["datname"], mostName), Role: excerpt.Truncate(labels["rolname"], mostName),
		Name: excerpt.Truncate(name, mostName), Value: excerpt.Truncate(labels["value"], mostName),
	})
}

// add what one instance reports. What roles and databases have is the same everywhere,
// and newest on the primary.
func (s *scraped) add(out *observed.ReadBack, instance, primary string) {
	out.Instances[instance] = s.values
	if s.settings != nil {
		out.Settings[instance] = s.settings
	}
	if s.receiver != nil {
		out.Receivers[instance] = *s.receiver
	}
	if instance == primary {
		out.Overrides, out.OverridesRead = s.sorted(), s.overridesRead
		if s.keptFrom > 0 {
			out.Kept = observed.KeptWAL{By: instance, From: s.keptFrom}
		}
		out.Archive = s.archive
	}
	for _, f := range s.followers {
		if !slices.Contains(out.Followers, f) {
			out.Followers = append(out.Followers, f)
		}
	}
	slices.Sort(out.Followers)
}

func (s *scraped) sorted() []observed.Override {
	slices.SortFunc(s.overrides, func(a, b observed.Override) int {
		return strings.Compare(a.Database+"\x00"+a.Role+"\x00"+a.Name, b.Database+"\x00"+b.Role+"\x00"+b.Name)
	})
	return s.overrides
}
