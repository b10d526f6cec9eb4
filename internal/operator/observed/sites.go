package observed

import (
	"github.com/pgstorage/pgstorage/internal/site/report"
)

// Sites is what the watcher of a database with several sites reports.
type Sites struct {
	// Members are those that were asked; empty where there is no answer.
	Members []report.Member
	// Problem says why nothing is known; empty where the watcher answered.
	Problem string
}
