package report

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
)

// printable is the report with every character that is not shown, as the escape
// sequences of terminals, line ends and marks that turn the direction of text,
// replaced by its code. It goes through JSON, so that no text can be forgotten.
func printable(r Report) (Report, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return Report{}, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var plain any
	if err := d.Decode(&plain); err != nil {
		return Report{}, err
	}
	if raw, err = json.Marshal(visible(plain)); err != nil {
		return Report{}, err
	}
	var out Report
	err = json.Unmarshal(raw, &out)
	return out, err
}

func visible(v any) any {
	switch v := v.(type) {
	case string:
		return codes(v)
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			out[codes(key)] = visible(value)
		}
		return out
	case []any:
		for i := range v {
			v[i] = visible(v[i])
		}
	}
	return v
}

// codes in place of what is not printed, as "\x1b".
func codes(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}
