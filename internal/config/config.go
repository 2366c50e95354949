package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// Config is the user's settings; Default gives every key its value.
type Config struct {
	Enabled        bool           `json:"enabled"`
	Collector      Collector      `json:"collector"`
	Hooks          Hooks          `json:"hooks"`
	Outbox         Outbox         `json:"outbox"`
	Privacy        Privacy        `json:"privacy"`
	Extract        Extract        `json:"extract"`
	LLM            LLM            `json:"llm"`
	SessionSummary SessionSummary `json:"session_summary"`
	Recall         Recall         `json:"recall"`
	Retention      Retention      `json:"retention"`
}

// Collector says which collector to talk to.
type Collector struct {
	URL       string   `json:"url"`       // empty: the local socket
	Token     string   `json:"token"`     // for TCP only
	Autostart bool     `json:"autostart"` // a hook starts the collector when none answers; off with a URL
	IdleExit  Duration `json:"idle_exit"` // the collector leaves after this long without a request; 1s to 30 days
}

// Hooks bounds what a hook may take and print.
type Hooks struct {
	BudgetMS        int  `json:"budget_ms"`         // 50 to 10000 milliseconds
	ContextMaxBytes int  `json:"context_max_bytes"` // 512 to 65536 bytes
	SessionDigest   bool `json:"session_digest"`
}

// Outbox bounds the queue on disk.
type Outbox struct {
	MaxBytes int64 `json:"max_bytes"` // 1 MiB to 1 TiB
}

// Privacy says what is taken out of text beside private tags, which always go.
type Privacy struct {
	RedactSecrets bool `json:"redact_secrets"`
}

// Extract says how events become memory records.
type Extract struct {
	Engine      string   `json:"engine"`      // "rules" or "llm"
	Idle        Duration `json:"idle"`        // 100ms to 1h
	BatchBytes  int      `json:"batch_bytes"` // 4 KiB to 16 MiB
	Concurrency int      `json:"concurrency"` // 1 to 16
}

// LLM names the language model, if one is to be used.
type LLM struct {
	Engine    string   `json:"engine"`  // "kiro", "openai" or "command"
	Timeout   Duration `json:"timeout"` // 1s to 10m
	Command   []string `json:"command"`
	BaseURL   string   `json:"base_url"`
	Model     string   `json:"model"`
	APIKeyEnv string   `json:"api_key_env"` // name of the environment variable that holds the key
}

// SessionSummary says whether intent summaries are made, and when.
type SessionSummary struct {
	Enabled               bool `json:"enabled"`
	MinUserTurns          int  `json:"min_user_turns"`         // 1 to 1000
	RegenerateAfterTurns  int  `json:"regenerate_after_turns"` // 1 to 1000
	MaxIntents            int  `json:"max_intents"`            // 1 to 500
	MaxConstraints        int  `json:"max_constraints"`        // 0 to 500
	AssistantExcerptChars int  `json:"assistant_excerpt_chars"`
}

// Recall says what may help to find records beside their words.
type Recall struct {
	Embedding Embedding `json:"embedding"`
}

// Embedding names an endpoint that makes vectors of texts (POST …/embeddings). Without an address none is made.
type Embedding struct {
	BaseURL   string `json:"base_url"`
	Model     string `json:"model"`
	APIKeyEnv string `json:"api_key_env"` // name of the environment variable that holds the key
}

// Retention says how long things are kept. An age of zero, written "", keeps them for ever.
type Retention struct {
	Events    Age `json:"events"`    // an event that has been distilled goes when it is older; a day to 100 years
	Records   Age `json:"records"`   // a record goes when it is older; a day to 100 years
	Forgotten Age `json:"forgotten"` // what is forgotten can be brought back for so long; an hour to a year
}

// Age is a time.Duration that JSON spells in days, as "90d", or as Go does, as "36h"; "" is zero.
type Age time.Duration

// UnmarshalJSON reads a string such as "90d".
func (a *Age) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("an age must be a string such as %q", "90d")
	}
	if s == "" {
		*a = 0
		return nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n <= 100*366 {
			*a = Age(time.Duration(n) * 24 * time.Hour)
			return nil
		}
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("%q is not an age such as %q", s, "90d")
	}
	*a = Age(v)
	return nil
}

// MarshalJSON writes days where the age is whole days, else as Go does.
func (a Age) MarshalJSON() ([]byte, error) {
	const day = Age(24 * time.Hour)
	switch {
	case a == 0:
		return []byte(`""`), nil
	case a%day == 0:
		return json.Marshal(strconv.FormatInt(int64(a/day), 10) + "d")
	}
	return json.Marshal(time.Duration(a).String())
}

// Duration is a time.Duration that JSON spells as Go does: "30m", "500ms".
type Duration time.Duration

// UnmarshalJSON reads a string such as "30m".
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a duration must be a string such as %q", "30m")
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("%q is not a duration such as %q", s, "30m")
	}
	*d = Duration(v)
	return nil
}

// MarshalJSON writes a string such as "30m0s".
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// Default is the configuration of a user who has set nothing.
func Default() Config {
	return Config{
		Enabled:   true,
		Collector: Collector{Autostart: true, IdleExit: Duration(30 * time.Minute)},
		Hooks:     Hooks{BudgetMS: 500, ContextMaxBytes: 8192, SessionDigest: true},
		Outbox:    Outbox{MaxBytes: 256 << 20},
		Privacy:   Privacy{RedactSecrets: true},
		Extract:   Extract{Engine: "rules", Idle: Duration(5 * time.Second), BatchBytes: 256 << 10, Concurrency: 2},
		LLM:       LLM{Engine: "kiro", Timeout: Duration(time.Minute)},
		SessionSummary: SessionSummary{
			MinUserTurns: 2, RegenerateAfterTurns: 1, MaxIntents: 50, MaxConstraints: 50,
			AssistantExcerptChars: 400,
		},
		Retention: Retention{Forgotten: Age(7 * 24 * time.Hour)},
	}
}

// Load reads the settings in d's configuration file. What cannot be used keeps its default and gives a warning that
// names the file and the key and holds no value of the file.
func Load(d Dirs) (Config, []string) {
	c := Default()
	var w warnings
	b, err := readSettings(d.ConfigFile())
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		w.add("%s cannot be read, so the defaults hold: %v", d.ConfigFile(), err)
	default:
		c.read(b, d.ConfigFile(), &w)
	}
	c.clamp(&w)
	return c, w
}

// maxSettings is the most that a file of settings may hold, in bytes.
const maxSettings = 1 << 20

// readSettings reads a file of settings. A pipe or a device in its place, which a cloned repository can carry as a link,
// would never end.
func readSettings(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", file)
	}
	if info.Size() > maxSettings {
		return nil, fmt.Errorf("%s has more than %d bytes", file, maxSettings)
	}
	return os.ReadFile(file)
}

func (c *Config) read(b []byte, file string, w *warnings) {
	var sections map[string]json.RawMessage
	if err := json.Unmarshal(trimBOM(b), &sections); err != nil {
		w.add("%s is not a JSON object, so the defaults hold: %v", file, err)
		return
	}
	for _, s := range []struct {
		key  string
		into any
	}{
		{"enabled", &c.Enabled},
		{"collector", &c.Collector},
		{"hooks", &c.Hooks},
		{"outbox", &c.Outbox},
		{"privacy", &c.Privacy},
		{"extract", &c.Extract},
		{"llm", &c.LLM},
		{"session_summary", &c.SessionSummary},
		{"recall", &c.Recall},
		{"retention", &c.Retention},
	} {
		raw, ok := sections[s.key]
		if !ok {
			continue
		}
		before := *c
		if err := json.Unmarshal(raw, s.into); err != nil {
			*c = before // a section counts whole or not at all
			w.add("%s: section %q is malformed, so its defaults hold", file, s.key)
		}
	}
}

func (c *Config) clamp(w *warnings) {
	if c.Collector.URL != "" {
		c.Collector.Autostart = false
	}
	clamp(w, "collector.idle_exit", &c.Collector.IdleExit, Duration(time.Second), Duration(30*24*time.Hour))
	clamp(w, "hooks.budget_ms", &c.Hooks.BudgetMS, 50, 10_000)
	clamp(w, "hooks.context_max_bytes", &c.Hooks.ContextMaxBytes, 512, 65_536)
	clamp(w, "outbox.max_bytes", &c.Outbox.MaxBytes, 1<<20, 1<<40)
	clamp(w, "extract.idle", &c.Extract.Idle, Duration(100*time.Millisecond), Duration(time.Hour))
	clamp(w, "extract.batch_bytes", &c.Extract.BatchBytes, 4<<10, 16<<20)
	clamp(w, "extract.concurrency", &c.Extract.Concurrency, 1, 16)
	clamp(w, "llm.timeout", &c.LLM.Timeout, Duration(time.Second), Duration(10*time.Minute))
	clamp(w, "session_summary.min_user_turns", &c.SessionSummary.MinUserTurns, 1, 1000)
	clamp(w, "session_summary.regenerate_after_turns", &c.SessionSummary.RegenerateAfterTurns, 1, 1000)
	clamp(w, "session_summary.max_intents", &c.SessionSummary.MaxIntents, 1, 500)
	clamp(w, "session_summary.max_constraints", &c.SessionSummary.MaxConstraints, 0, 500)
	clamp(w, "session_summary.assistant_excerpt_chars", &c.SessionSummary.AssistantExcerptChars, 50, 20_000)
	for key, age := range map[string]*Age{"retention.events": &c.Retention.Events, "retention.records": &c.Retention.Records} {
		if *age != 0 {
			clamp(w, key, age, Age(24*time.Hour), Age(100*365*24*time.Hour))
		}
	}
	clamp(w, "retention.forgotten", &c.Retention.Forgotten, Age(time.Hour), Age(366*24*time.Hour))
	oneOf(w, "extract.engine", &c.Extract.Engine, "rules", "llm")
	oneOf(w, "llm.engine", &c.LLM.Engine, "kiro", "openai", "command")
}

type warnings []string

func (w *warnings) add(format string, args ...any) { *w = append(*w, fmt.Sprintf(format, args...)) }

func clamp[T ~int | ~int64](w *warnings, key string, v *T, low, high T) {
	if *v < low {
		*v = low
	} else if *v > high {
		*v = high
	} else {
		return
	}
	w.add("config: %s is out of range and was set to %v", key, any(*v))
}

func oneOf(w *warnings, key string, v *string, first string, rest ...string) {
	if *v == first {
		return
	}
	for _, r := range rest {
		if *v == r {
			return
		}
	}
	*v = first
	w.add("config: %s has no such value and was set to %q", key, first)
}

func trimBOM(b []byte) []byte {
	if len(b) >= 3 && b[0] == 0xEF && b[1] == 0xBB && b[2] == 0xBF {
		return b[3:]
	}
	return b
}
