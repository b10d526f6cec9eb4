package watch

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"k8s.io/utils/clock"

	"github.com/pgstorage/pgstorage/internal/site/report"
)

const (
	// patience bounds one attempt, from the address of the host to the answer.
	patience = 4 * time.Second
	// addressPatience with one of a host's addresses, so that another one is tried.
	addressPatience = patience / 2
	// farewell bounds the clean end of a session.
	farewell = time.Second
	// maxMessage of a server, in bytes. An answer has at most some hundred.
	maxMessage = 64 << 10
)

const (
	// user that every site has, and that the certificate is for.
	user = "streaming_replica"
	// database that CloudNativePG lets that user into. A superuser owns it.
	database = "postgres"
	// application differs from those by which sites receive WAL.
	application = "pgstorage-watch"
)

// asker of one member. Each question has a session of its own. A kept one stays with an
// instance that may not be the primary any more, and a server that shuts down waits for it.
type asker struct {
	member Member
	folder string
	clock  clock.PassiveClock
}

// ask the member once. The error is that of the report's problem.
func (s *asker) ask(ctx context.Context) (report.Member, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := s.clock.Now()
	m, err := s.answer(ctx)
	if err != nil {
		return report.Member{Name: s.member.Name, Asked: began.Unix(), Problem: problemOf(err)}, err
	}
	return m, nil
}

func (s *asker) answer(ctx context.Context) (report.Member, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return report.Member{}, err
	}
	defer end(ctx, conn)
	var a answer
	before := s.clock.Now()
	// This mode takes one round trip, which the skew of clocks is corrected by.
	err = conn.QueryRow(ctx, question, pgx.QueryExecModeExec).Scan(a.fields()...)
	after := s.clock.Now()
	if err != nil {
		return report.Member{}, fmt.Errorf("ask: %w", err)
	}
	return a.read(s.member.Name, before, after)
}

func (s *asker) connect(ctx context.Context) (*pgx.Conn, error) {
	config, err := s.config()
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return conn, nil
}

// config of a session. It depends on nothing of the environment: no password, no setting.
func (s *asker) config() (*pgx.ConnConfig, error) {
	tls, err := secure(filepath.Join(s.folder, s.member.Name), s.member.Host)
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(fmt.Sprintf("host=%s port=%d user=%s dbname=%s sslmode=verify-full",
		s.member.Host, s.member.Port, user, database))
	if err != nil {
		return nil, err
	}
	config.TLSConfig, config.Fallbacks, config.Password = tls, nil, ""
	config.ConnectTimeout, config.MaxProtocolMessageBodyLen = addressPatience, maxMessage
	// Settings of a session override those of its role and database.
	config.RuntimeParams = map[string]string{
		"application_name":              application,
		"client_encoding":               "UTF8",
		"default_transaction_read_only": "on",
		"search_path":                   "",
		"statement_timeout":             strconv.FormatInt(patience.Milliseconds(), 10),
	}
	return config, nil
}

// end a session. It takes at most farewell.
func end(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	_ = conn.Close(ctx) // the server notices at the latest when the process ends
}
