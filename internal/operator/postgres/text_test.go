package postgres

// textSamples are values of parameters of type string, of those that Postgres reads at
// its start.
var textSamples = map[string][]string{
	"timezone":                         {"Europe/Berlin", "utc", "Etc/GMT+12", "-7", "5.5", "<+03>-03", "CET-1"},
	"log_timezone":                     {"America/New_York", "UTC", "<+03>-03", "EST5"},
	"timezone_abbreviations":           {"Default", "australia", "India"},
	"datestyle":                        {"ISO", "ISO, DMY", "german", "Postgres,YMD", "sql, mdy", "DMY"},
	"client_encoding":                  encodings,
	"lc_messages":                      {"C", "POSIX", "C.UTF-8"},
	"lc_monetary":                      {"C", "POSIX", "C.UTF-8"},
	"lc_numeric":                       {"C", "POSIX", "C.UTF-8"},
	"lc_time":                          {"C", "POSIX", "C.utf8"},
	"backtrace_functions":              {"", "a, b_2"},
	"default_table_access_method":      {"heap", "other"},
	"createrole_self_grant":            {"", "set, inherit"},
	"debug_io_direct":                  {""},
	"log_connections":                  {"on", "0", "", "all", "receipt,authorization"},
	"restrict_nonsystem_relation_kind": {"", "view", "view, foreign-table"},
	"wal_consistency_checking":         {"", "all", "heap2, generic,sequence"},
	"search_path":                      {"", "public", `"$user", public, "a b"`},
	"session_preload_libraries":        {"", "auto_explain"},
	"local_preload_libraries":          {"", "$libdir/plugins/a"},
	"ssl_ciphers":                      {"HIGH:MEDIUM:+3DES:!aNULL", "ECDHE-RSA-AES256-GCM-SHA384"},
	"ssl_tls13_ciphers":                {"TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256"},
	"ssl_groups":                       {"X25519:prime256v1"},
	"application_name":                 {"", "x"},
	"default_text_search_config":       {"", "pg_catalog.english", "nonsense"},
	"default_tablespace":               {"", "missing"},
	"dynamic_library_path":             {"$libdir", "$libdir:/missing"},
	"log_line_prefix":                  {"", "%m [%p]"},
	"krb_server_keyfile":               {"", "/missing"},
}
