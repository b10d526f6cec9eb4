package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// setting is a row of pg_settings.
type setting struct{ Name, Value, Source string }

const settingsQuery = `SELECT name, coalesce(setting, ''), source FROM pg_settings WHERE source <> 'default'`

// volatile settings differ between servers that perform alike, so a fingerprint with them would
// differ too.
var volatile = map[string]string{
	"port":                             "where the server listens",
	"listen_addresses":                 "where the server listens",
	"unix_socket_directories":          "a path of the container",
	"data_directory":                   "a path of the container",
	"config_file":                      "a path of the container",
	"hba_file":                         "a path of the container",
	"ident_file":                       "a path of the container",
	"external_pid_file":                "a path of the container",
	"log_directory":                    "a path of the container",
	"log_filename":                     "a path of the container",
	"stats_temp_directory":             "a path of the container",
	"ssl_ca_file":                      "a path of the container",
	"ssl_cert_file":                    "a path of the container",
	"ssl_key_file":                     "a path of the container",
	"ssl_crl_file":                     "a path of the container",
	"cluster_name":                     "a name of this cluster",
	"primary_conninfo":                 "names the primary of this moment",
	"primary_slot_name":                "a name of this instance",
	"synchronous_standby_names":        "names the instances of this moment; the report has it on its own",
	"in_hot_standby":                   "the role of this moment",
	"recovery_target_timeline":         "the role of this moment",
	"transaction_read_only":            "of our own session",
	"transaction_isolation":            "of our own session",
	"transaction_deferrable":           "of our own session",
	"is_superuser":                     "of our own session",
	"session_authorization":            "of our own session",
	"role":                             "of our own session",
	"shared_memory_size":               "follows from other settings",
	"shared_memory_size_in_huge_pages": "follows from other settings",
	"huge_pages_status":                "of the node at this moment",
	"num_os_semaphores":                "follows from other settings",
}

// ours are the sources of settings of our own session, which pgbench does not share.
var ours = []string{"client", "session"}

// settingsOf the server that differ from the defaults of Postgres and distinguish servers. It
// reads as the benchmark's role, which does not see what only superusers may.
func settingsOf(ctx context.Context, c *pgx.Conn) ([]setting, error) {
	rows, err := c.Query(ctx, settingsQuery)
	if err != nil {
		return nil, fmt.Errorf("settings of the server: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[setting])
	if err != nil {
		return nil, fmt.Errorf("settings of the server: %w", err)
	}
	return slices.DeleteFunc(all, passing), nil
}

// passing says whether a setting is of the moment, or of our own session.
func passing(s setting) bool {
	return volatile[s.Name] != "" || slices.Contains(ours, s.Source) || strings.Contains(s.Name, ".")
}

// hash is SHA-256 over the sorted "name=value" of settings.
func hash(settings []setting) string {
	var lines []string
	for _, s := range settings {
		lines = append(lines, s.Name+"="+s.Value+"\n")
	}
	slices.Sort(lines)
	sum := sha256.New()
	for _, line := range lines {
		// A hash never fails to write.
		_, _ = io.WriteString(sum, line)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
