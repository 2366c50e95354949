package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestLoadKeepsWhatItCan(t *testing.T) {
	for _, c := range []struct {
		name, file string
		budget     int
		idle       time.Duration
		enabled    bool
		warnings   int
	}{
		{"no file", "", 500, 5 * time.Second, true, 0},
		{"nothing set", "{}", 500, 5 * time.Second, true, 0},
		{"a BOM", "\ufeff{\"hooks\":{\"budget_ms\":200}}", 200, 5 * time.Second, true, 0},
		{"off", `{"enabled":false}`, 500, 5 * time.Second, false, 0},
		{"too small and too big", `{"hooks":{"budget_ms":1},"extract":{"idle":"900h"}}`, 50, time.Hour, true, 2},
		{"one bad section", `{"hooks":{"budget_ms":"fast"},"extract":{"idle":"1s"}}`, 500, time.Second, true, 1},
		{"half a bad section", `{"hooks":{"context_max_bytes":9000,"budget_ms":[]}}`, 500, 5 * time.Second, true, 1},
		{"unknown keys", `{"future":{"x":1},"hooks":{"new":true,"budget_ms":300}}`, 300, 5 * time.Second, true, 0},
		{"torn", `{"enabled":fal`, 500, 5 * time.Second, true, 1},
		{"a list", `[]`, 500, 5 * time.Second, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Dirs{Config: t.TempDir()}
			if c.file != "" {
				if err := os.WriteFile(d.ConfigFile(), []byte(c.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, warnings := Load(d)
			if got.Hooks.BudgetMS != c.budget || time.Duration(got.Extract.Idle) != c.idle || got.Enabled != c.enabled {
				t.Errorf("got budget %d idle %v enabled %v", got.Hooks.BudgetMS, time.Duration(got.Extract.Idle), got.Enabled)
			}
			if len(warnings) != c.warnings {
				t.Errorf("warnings %q, want %d", warnings, c.warnings)
			}
			if got.Hooks.ContextMaxBytes != 8192 {
				t.Errorf("context_max_bytes %d, want the default", got.Hooks.ContextMaxBytes)
			}
		})
	}
}

func TestURLTurnsAutostartOff(t *testing.T) {
	d := Dirs{Config: t.TempDir()}
	if err := os.WriteFile(d.ConfigFile(), []byte(`{"collector":{"url":"http://127.0.0.1:7000","autostart":true}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, _ := Load(d); c.Collector.Autostart {
		t.Error("a collector elsewhere must not be started here")
	}
}

func TestDirsUnderOneHome(t *testing.T) {
	d := FindDirs(func(k string) string { return map[string]string{"KIRO_LEARN_HOME": "/h"}[k] })
	root := filepath.VolumeName(d.Config) + string(filepath.Separator) + "h"
	for got, want := range map[string]string{
		d.ConfigFile(): "config.json", d.Database(): "data/memory.db", d.Outbox(): "state/outbox",
		d.LogFile(): "state/kiro-learn.log", d.Socket(): "run/collector.sock",
	} {
		if want := filepath.Join(root, filepath.FromSlash(want)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// What is not clearly on is off: who has written the file wants to be left alone.
func TestProjectSwitch(t *testing.T) {
	for _, c := range []struct {
		name, file  string
		on, problem bool
	}{
		{"no file", "", true, false},
		{"nothing set", `{}`, true, false},
		{"null", `{"enabled":null}`, true, false},
		{"on", `{"enabled":true}`, true, false},
		{"on in a string", `{"enabled":"true"}`, true, false},
		{"one", `{"enabled":1}`, true, false},
		{"off", `{"enabled":false}`, false, false},
		{"off behind a BOM", "\ufeff{\"enabled\":false}", false, false},
		{"off in a string", `{"enabled":"false"}`, false, false},
		{"off in capitals", `{"enabled":"OFF"}`, false, false},
		{"no", `{"enabled":"no"}`, false, false},
		{"zero", `{"enabled":0}`, false, false},
		{"off with a trailing comma", `{"enabled": false,}`, false, false},
		{"off with comments", "{ // not here\n /* see */ \"enabled\": false, // off\n}", false, false},
		{"on with comments", "// mine\n{\"note\":\"a // in \\\" a string,}\",\"enabled\":true /* , */ , }", true, false},
		{"torn", `{"enabled":`, false, true},
		{"a comment without end", `{"enabled":true} /* x`, false, true},
		{"a lonely slash", `/`, false, true},
		{"a comma too many", `{"enabled":true,,}`, false, true},
		{"blank", " ", false, true},
		{"a list", `[]`, false, true},
		{"another word", `{"enabled":"maybe"}`, false, true},
		{"an empty word", `{"enabled":""}`, false, true},
		{"another kind", `{"enabled":[true]}`, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			if c.file != "" {
				if err := os.Mkdir(filepath.Join(root, ".kiro"), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(root, ".kiro", "kiro-learn.json"), []byte(c.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := ProjectEnabled(root); got != c.on {
				t.Errorf("enabled %v, want %v", got, c.on)
			}
			if got := ProjectProblem(root); (got != "") != c.problem {
				t.Errorf("problem %q", got)
			}
		})
	}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, ".kiro"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !ProjectEnabled(root) || !ProjectEnabled("") {
		t.Error("a project without a switch is off")
	}
}

func TestSwitchInTheEnvironment(t *testing.T) {
	for v, want := range map[string]bool{
		"": false, "0": false, "false": false, "False": false, "no": false, "OFF": false,
		"1": true, "true": true, "TRUE": true, "yes": true, "on": true, "2": true, "please": true,
	} {
		if got := Disabled(func(string) string { return v }); got != want {
			t.Errorf("KIRO_LEARN_DISABLE=%s: disabled %v, want %v", v, got, want)
		}
	}
}

func TestRetentionIsSpelledInDays(t *testing.T) {
	const day = Age(24 * time.Hour)
	for _, c := range []struct {
		name, file string
		want       Retention
		warnings   int
	}{
		{"nothing set", `{}`, Retention{Forgotten: 7 * day}, 0},
		{"off", `{"retention":{"events":"","records":""}}`, Retention{Forgotten: 7 * day}, 0},
		{"days and hours", `{"retention":{"events":"90d","records":"36h","forgotten":"1d"}}`, Retention{90 * day, Age(36 * time.Hour), day}, 0},
		{"too short", `{"retention":{"events":"1h","forgotten":"0d"}}`, Retention{day, 0, Age(time.Hour)}, 2},
		{"not an age", `{"retention":{"events":"90 days"}}`, Retention{Forgotten: 7 * day}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Dirs{Config: t.TempDir()}
			if err := os.WriteFile(d.ConfigFile(), []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			got, warnings := Load(d)
			if got.Retention != c.want || len(warnings) != c.warnings {
				t.Errorf("got %+v, warnings %q", got.Retention, warnings)
			}
			back, err := json.Marshal(got.Retention)
			var again Retention
			if err != nil || json.Unmarshal(back, &again) != nil || again != got.Retention {
				t.Errorf("%s reads as %+v, %v", back, again, err)
			}
		})
	}
}

func TestSettingsThatNeverEndAreNotRead(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil || runtime.GOOS == "windows" {
		t.Skip("this system has no device that never ends")
	}
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, ".kiro"), 0o700); err != nil {
		t.Fatal(err)
	}
	d := Dirs{Config: root}
	for _, name := range []string{filepath.Join(".kiro", "kiro-learn.json"), "config.json"} {
		if err := os.Symlink("/dev/zero", filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if ProjectEnabled(root) || ProjectProblem(root) == "" {
		t.Errorf("the project counts as %v, problem %q", ProjectEnabled(root), ProjectProblem(root))
	}
	if c, warnings := Load(d); !c.Enabled || len(warnings) != 1 {
		t.Errorf("enabled %v, warnings %q", c.Enabled, warnings)
	}
}
