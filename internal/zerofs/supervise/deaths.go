package supervise

import "github.com/pgstorage/pgstorage/internal/zerofs"

// deaths of a server's database, of which the first counts.
type deaths chan *zerofs.Failure

func (d deaths) line(text string) {
	death := zerofs.Death(text)
	if death == nil {
		return
	}
	select {
	case d <- death:
	default:
	}
}
