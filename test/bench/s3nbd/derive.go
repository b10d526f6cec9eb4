//go:build linux

package s3nbd

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile/s3nbd"
	postgresdeclare "github.com/pgstorage/pgstorage/test/vm/postgres/declare"
	"github.com/pgstorage/pgstorage/test/vm/s3nbd/declare"
)

// derive what the manager would: from an agent's status to the profile's flush latency,
// and from that to commit_delay in µs.
func derive(root string, status []byte) (latency time.Duration, delay int64, siblings int, err error) {
	storage := v1alpha1.PgNodeStorage{}
	storage.Spec.NodeName = declare.Node
	if err := json.Unmarshal(status, &storage.Status); err != nil {
		return 0, 0, 0, fmt.Errorf("the agent's status: %w", err)
	}
	p, err := profile(root)
	if err != nil {
		return 0, 0, 0, err
	}
	built, err := s3nbd.Type{}.Build(p, observed.Profile{
		Nodes:    []observed.Node{{Name: declare.Node, Selected: true}},
		Storages: []*v1alpha1.PgNodeStorage{&storage},
		Operator: observed.Operator{Namespace: "pgstorage-system", Image: "pgstorage"},
	})
	if err != nil {
		return 0, 0, 0, err
	}
	if built.Status.FlushLatency == nil {
		return 0, 0, 0, errors.New("the agent reports no flush latency")
	}
	delay, siblings, err = commitDelay(root, built.Status.FlushLatency.Duration)
	return built.Status.FlushLatency.Duration, delay, siblings, err
}

// commitDelay that the manager derives from the profile's flush latency, in µs.
func commitDelay(root string, latency time.Duration) (delay int64, siblings int, err error) {
	p, err := profile(root)
	if err != nil {
		return 0, 0, err
	}
	p.Status.FlushLatency = &metav1.Duration{Duration: latency}
	parameters := s3nbd.Type{}.Volumes(p).Parameters
	delay, err = strconv.ParseInt(parameters["commit_delay"].Value, 10, 64)
	if err == nil {
		siblings, err = strconv.Atoi(parameters["commit_siblings"].Value)
	}
	return delay, siblings, err
}

func profile(root string) (*v1alpha1.PgStorageProfile, error) {
	return postgresdeclare.Profile(root, map[string]any{
		"type": string(v1alpha1.ProfileTypeS3NBD), "nodeSelector": map[string]any{"pool": declare.Pool},
		"s3NBD": map[string]any{
			"pool":    map[string]any{"name": declare.Pool},
			"stores":  []any{map[string]any{"name": "main", "bucket": bucket, "prefix": "prod", "credentialsSecret": "keys", "encryptionSecret": "encryption"}},
			"devices": map[string]any{"size": exportSize},
			"zeroFS":  map[string]any{"family": string(v1alpha1.ZeroFS019), "image": "zerofs:0.19.1"},
		},
	})
}
