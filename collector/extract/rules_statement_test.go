package extract

import (
	"slices"
	"strings"
	"testing"

	"kiro-learn/internal/event"
)

// TestWhatAPersonStates: conventions, choices and facts that a person tells are remembered in their words, whether they are
// answered, acknowledged or neither; orders, questions, complaints and talk are not. It counts, and most have to be right:
// the rules look at wordings, and some sentence will always be worded otherwise.
func TestWhatAPersonStates(t *testing.T) {
	for _, answer := range []string{"", "Understood.", "Got it, I'll keep that in mind."} {
		states := func(prompt string) bool {
			got := Rules([]Turn{said(prompt, answer)}, func() string { return "mr_01ARZ3NDEKTSV4RRFFQ69G5FAV" })
			for _, r := range got {
				if (r.ObservationType == event.TypeDecision || r.ObservationType == event.TypeDiscovery) && strings.Contains(statementKey(prompt), statementKey(strings.TrimSuffix(r.Title, "…"))) {
					return true
				}
			}
			return false
		}
		for want, list := range map[bool][]string{true: statedOnes, false: unstatedOnes} {
			wrong := slices.DeleteFunc(slices.Clone(list), func(p string) bool { return states(p) == want })
			t.Logf("answer %q: %d of %d right where remembered should be %v, not %q", answer, len(list)-len(wrong), len(list), want, wrong)
			if len(wrong)*20 > len(list) {
				t.Errorf("answer %q, remembered should be %v:\n%s", answer, want, strings.Join(wrong, "\n"))
			}
		}
	}
}

var statedOnes = []string{
	"we keep all calibration values in NVS not in the code because each sensor differs",
	"we went with Postgres over Mongo",
	"don't use mocks for the repository layer",
	"note: the staging server is called heron",
	"For the record: the licence check was removed on purpose",
	"FYI the CI runner has only 2 GB of memory",
	"It turned out that the flaky test was caused by the DST switch",
	"Our coding style forbids else after return",
	"Never call the billing API from the worker, it is rate limited",
	"I prefer table driven tests",
	"we use pnpm, not npm",
	"We moved the image resizing to a Lambda because the web server ran out of memory.",
	"We switched from Jenkins to GitLab CI last month.",
	"We chose SQLite since the app has to work offline",
	"we store money as integer cents",
	"We don't use ORMs in this project.",
	"we deploy from the release branch only",
	"We never squash merges in the monorepo.",
	"we replaced the cron job with a systemd timer",
	"Our API has a limit of 100 requests per minute per key.",
	"our customers are on Python 3.8",
	"Our release branch is called stable",
	"our linter requires doc comments on exported names",
	"Our integration tests must run against a real Redis.",
	"btw the fixtures live in testdata/golden",
	"By the way, the mobile app still uses the v1 endpoint.",
	"Note that the payment provider only accepts UTF-8 without BOM.",
	"heads up: the reporting schema is owned by the data team",
	"turns out the proxy strips the X-Request-Id header",
	"keep in mind that the importer runs on Windows too",
	"avoid reflection in the codec package",
	"Prefer composition over inheritance in the domain layer",
	"do not log email addresses",
	"Don't import the internal packages from cmd.",
	"We agreed that handlers return errors and never log them.",
	"Hi! We write all commit messages in the imperative mood.",
	"just so you know, the nightly build takes 40 minutes",
	"The prod database is read-only between 2 and 3 am",
	"we pin every GitHub action to a commit hash",
	"We dropped support for IE11 in version 4.",
	"wir verwenden für alle Migrationen Flyway",
	"Unsere Testdatenbank läuft auf Port 5433.",
	"Hinweis: der Staging-Server heißt heron",
	"Wir sind von Maven auf Gradle umgestiegen.",
	"我们使用 Postgres 存储订单数据。",
	"备注：预发布服务器的名字叫 heron。",
	"私たちはログに zap を使っています。",
	"ちなみに、ステージングのサーバー名は heron です。",
	"The reason for the weird sleep is the printer's firmware bug",
	"we always run migrations before the deploy", "we call the tomato bed dragon", "our main branch is protected", "we version the API in the path",
	"the token lifetime is 15 minutes", "we rely on the clock of the database server", "our mobile clients cache responses for one hour", "no new dependencies without a review",
	"we support only Node 20 and later", "Postgres runs on port 5544 in dev", "the API key for maps lives in vault under maps/prod", "FYI: the QA team tests on Fridays only", "We're using feature flags from LaunchDarkly",
	"we are on Java 17", "team convention: snake_case for columns", "all timestamps are UTC", "every handler must have a test", "we have two regions, eu and us",
	"our frontend is written in Svelte", "Wir nutzen Kafka statt RabbitMQ", "我们的主分支叫 stable", "デプロイには ArgoCD を使っています。",
}

var unstatedOnes = []string{
	"fix the test", "don't forget to run the tests", "we have a bug in the cart, fix it", "we get an error when the cart is empty",
	"thanks, that was great", "if we used Postgres we would save a lot of time", "should we use Redis for the sessions?",
	"maybe we could move the cache to Redis", "what is our release branch called", "Do we use tabs or spaces?",
	"add a retry to the uploader", "please rename Foo to Bar", "don't touch the parser", "don't use a loop here",
	"do not commit yet", "our build is broken", "Our CI is red again.", "our tests are failing since the last merge",
	"the login page is slow", "we see timeouts in the checkout", "We need to migrate the users table.", "we should use a queue",
	"we want to support dark mode", "let's use a map for the cache", "use a map for the lookup and run the tests", "avoid that allocation",
	"btw, fix the typo in the readme too", "note: run the tests after that", "FYI I'm going to lunch", "by the way, thanks for the help",
	"we use the old client here, replace it by the new one", "We keep the docs in the wiki, move them to the repo please.",
	"we moved the meeting to Monday", "how are you today?", "good morning, hope you are well", "Our team is awesome",
	"we had lunch with the platform team", "the weather is nice today", "I wonder if we use the right index",
	"what if we switched to Kafka?", "suppose we keep the tokens in memory", "I don't know why we use Java here",
	"can you check whether we store the emails in plain text?", "explain how our auth works", "show me where we keep the config",
	"The docs say \"we use Postgres over Mongo\"", "> we keep all secrets in vault", "2026-01-02T10:00:00Z we use fallback resolver for host a",
	"```\nwe keep it simple\n```", "ERROR: our handler has no route for /x", "it works now", "this is great, continue", "yes, do that",
	"make it faster", "The button is missing on the settings page.", "we run out of memory when the import is large, find out why",
	"our dashboard is missing the new metric", "it turns out you were right", "keep going until the tests pass",
	"are our fixtures in testdata?", "we're stuck on the migration", "we tried that already", "I think we use yarn",
	"The PR is ready for review", "wir haben einen Fehler im Warenkorb", "warum verwenden wir Redis?", "Unser Build ist kaputt.",
	"we put the wrong id in the url", "we keep getting 502s", "we keep seeing this warning", "we call the function twice, remove one call", "we log the user in twice", "we store it where?", "we use too much memory in the worker",
	"we use this function only once, inline it", "our users complain about the search", "our landing page has a typo", "our header has the wrong colour", "note: this is a long one", "btw I like your style", "we run the tests and they pass",
	"we drop the first row by mistake", "we replaced the icon but it looks odd", "our README is missing a section on setup", "we agreed to meet at 5", "we chose pizza", "keep the tests short", "we don't handle null in the parser", "we don't validate the email field",
	"the dropdown has no border", "the modal is too wide", "the footer is not aligned", "there is a typo in the readme", "the search returns no results", "the cart is empty after login", "now the tests have a different output", "the file is attached", "the ticket is SHOP-12",
	"we write to the socket after it was closed", "we cache the response even if it is a 500", "our test for the parser uses the wrong fixture", "we just removed the feature, so delete its tests", "don't call me sir", "prefer not to", "avoid breaking anything", "we switched branches, check again",
	"bitte verschiebe den Test", "我们有一个错误，请修复", "我们应该使用 Redis 吗？", "请帮我添加一个测试", "テストを直してください", "もし Redis を使ったら速くなりますか？",
}
