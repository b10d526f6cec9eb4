package observer

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// The files of a pool's folder are read as the server sees them. The folder is one like
// those of OpenZFS, which test/vm reads on a real pool.
func TestFilesOfDatasets(t *testing.T) {
	o := observed(t)
	folder := filepath.Join(postgres.Dir, "tank")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"state", "objset-0x36", "objset-0x37"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]string{}
	err := o.session(t.Context(), func(ctx context.Context, c *pgx.Conn) error {
		if err := readDatasets(ctx, c, folder, got); err != nil {
			return err
		}
		if diff := cmp.Diff(map[string]string{folder + "/objset-0x36": "objset-0x36", folder + "/objset-0x37": "objset-0x37"}, got); diff != "" {
			t.Error(diff)
		}
		// A pool that is gone has nothing.
		return readDatasets(ctx, c, folder+"/none", got)
	})
	if err != nil || len(got) != 2 {
		t.Errorf("%v, %d files", err, len(got))
	}
}
