//go:build browser

package browser

import (
	"os"
	"testing"
)

func TestDump(t *testing.T) {
	for n, p := range pages(t) {
		os.WriteFile("/tmp/report/"+n+".html", []byte(p), 0o644)
	}
}
