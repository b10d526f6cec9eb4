package watch

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/pgstorage/pgstorage/internal/site/report"
)

// Member is a site to ask.
type Member struct {
	// Name of the site, and of the folder of its certificates.
	Name string
	// Host and Port of its primary instance.
	Host string
	Port uint16
}

const defaultPort = 5432

// Names and hosts are what the PgStorageCluster's topology accepts.
var (
	memberName = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,22}[a-z0-9])?$`)
	memberHost = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

const maxHost = 253

// ParseMember of an argument as name=south,host=shop.south.example,port=5432. Default of the
// port: 5432.
func ParseMember(text string) (Member, error) {
	m := Member{Port: defaultPort}
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, found := strings.Cut(pair, "=")
		if !found || seen[key] {
			return Member{}, fmt.Errorf("member %q must be as name=south,host=shop.south.example,port=5432", text)
		}
		seen[key] = true
		if err := m.set(key, value); err != nil {
			return Member{}, fmt.Errorf("member %q: %w", text, err)
		}
	}
	if m.Name == "" || m.Host == "" {
		return Member{}, fmt.Errorf("member %q needs name and host", text)
	}
	return m, nil
}

func (m *Member) set(key, value string) error {
	switch key {
	case "name":
		if !memberName.MatchString(value) {
			return errors.New("name must have at most 24 lower-case letters, digits and '-', begin with a letter, and end with a letter or digit")
		}
		m.Name = value
	case "host":
		if len(value) > maxHost || !memberHost.MatchString(value) {
			return errors.New("host must be a lower-case DNS name")
		}
		m.Host = value
	case "port":
		port, err := strconv.ParseUint(value, 10, 16)
		if err != nil || port == 0 {
			return errors.New("port must be between 1 and 65535")
		}
		m.Port = uint16(port)
	default:
		return fmt.Errorf("unknown key %q", key)
	}
	return nil
}

// Check that there are members, not more than a report has, and none twice.
func Check(members []Member) error {
	if len(members) == 0 || len(members) > report.MaxMembers {
		return fmt.Errorf("there must be 1 to %d members, not %d", report.MaxMembers, len(members))
	}
	seen := map[string]bool{}
	for _, m := range members {
		if seen[m.Name] {
			return fmt.Errorf("member %s is there twice", m.Name)
		}
		seen[m.Name] = true
	}
	return nil
}
