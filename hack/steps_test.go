package hack_test

import (
	"os"
	"os/exec"
	"testing"
)

// A step that ends at once ends nothing that the script has started beside it.
func TestEndOfAStepEndsNothingElse(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "bash", "-c", `
source lib/steps.sh
set -m
sleep 300 &
beside=$!
set +m
trap 'kill -- "-$beside" 2>/dev/null || true' EXIT
for i in {1..100}; do
	logged step true 2>/dev/null
	kill -0 "$beside" || die "it was ended by step $i"
done`)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir(), "PGSTORAGE_BRIEF=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
