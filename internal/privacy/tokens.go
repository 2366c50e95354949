package privacy

import (
	"encoding/base64"
	"strings"
)

// token is a rule for secrets that show by their prefix: the prefix, then min to max bytes of an alphabet (max 0 means
// any number), then a byte outside the alphabet. Source is where the issuer or a scanner's documentation describes it.
type token struct {
	name, prefix string
	alphabet     uint8
	min, max     int
	keep         bool                // the prefix is public and stays
	ok           func(s string) bool // says whether prefix and body are a secret; nil means yes
	source       string
}

// Where the formats are described.
const (
	awsDocs      = "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-unique-ids"
	githubDocs   = "https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/"
	gitlabDocs   = "https://docs.gitlab.com/security/tokens/#token-prefixes"
	slackDocs    = "https://docs.slack.dev/authentication/tokens"
	googleDocs   = "https://cloud.google.com/docs/authentication/api-keys; https://developers.google.com/identity/protocols/oauth2"
	stripeDocs   = "https://docs.stripe.com/keys"
	openaiDocs   = "https://platform.openai.com/docs/api-reference/authentication"
	digitalDocs  = "https://docs.digitalocean.com/reference/api/"
	shopifyDocs  = "https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens"
	vaultDocs    = "https://developer.hashicorp.com/vault/docs/concepts/tokens#token-prefixes"
	grafanaDocs  = "https://grafana.com/docs/grafana/latest/administration/service-accounts/"
	newrelicDocs = "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/"
	dopplerDocs  = "https://docs.doppler.com/reference/auth-token-formats"
	supabaseDocs = "https://supabase.com/docs/guides/api/api-keys"
	github2Docs  = "https://docs.github.com/code-security/secret-scanning/introduction/supported-secret-scanning-patterns"
)

// tokenTable lists the rules; of those that share a beginning the more special one comes first. It is data of the binary,
// made by nobody at start, and never written to.
var tokenTable = [...]token{
	{"aws-key-id", "AKIA", upper | digits, 16, 16, false, nil, awsDocs},
	{"aws-key-id", "ASIA", upper | digits, 16, 16, false, nil, awsDocs},
	{"aws-key-id", "ABIA", upper | digits, 16, 16, false, nil, awsDocs},
	{"aws-key-id", "ACCA", upper | digits, 16, 16, false, nil, awsDocs},
	{"aws-bedrock", "ABSKQmVkcm9ja0FQSUtleS", base64s, 60, 0, false, nil, "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html"},
	{"github", "ghp_", alnum | under, 36, 255, false, varied, githubDocs},
	{"github", "gho_", alnum | under, 36, 255, false, varied, githubDocs},
	{"github", "ghu_", alnum | under, 36, 255, false, varied, githubDocs},
	{"github", "ghs_", alnum | under | dot | dash, 36, 0, false, varied, githubDocs},
	{"github", "ghr_", alnum | under, 36, 255, false, varied, githubDocs},
	{"github", "github_pat_", alnum | under, 40, 255, false, varied, githubDocs},
	{"gitlab", "glpat-", base64u | dot, 20, 0, false, varied, gitlabDocs},
	{"gitlab", "gldt-", base64u | dot, 20, 0, false, varied, gitlabDocs},
	{"gitlab", "glptt-", base64u | dot, 20, 0, false, varied, gitlabDocs},
	{"gitlab", "glrt-", base64u | dot, 20, 0, false, varied, gitlabDocs},
	{"gitlab", "glrtr-", base64u | dot, 20, 0, false, varied, gitlabDocs},
	{"gitlab", "glcbt-", base64u | dot, 20, 0, false, varied, gitlabDocs},
	{"gitlab", "glimt-", base64u | dot, 20, 0, false, varied, gitlabDocs},
	{"gitlab", "glagent-", base64u | dot, 20, 0, false, varied, gitlabDocs},
	{"gitlab", "glft-", base64u | dot, 20, 0, false, varied, gitlabDocs},
	{"gitlab", "gloas-", base64u | dot, 20, 0, false, varied, gitlabDocs},
	{"gitlab", "glsoat-", base64u | dot, 20, 0, false, varied, gitlabDocs},
	{"gitlab", "glffct-", base64u | dot, 20, 0, false, varied, gitlabDocs},
	{"gitlab", "GR1348941", base64u, 20, 0, false, varied, gitlabDocs},
	{"slack", "xoxb-", base64u, 12, 0, false, varied, slackDocs},
	{"slack", "xoxp-", base64u, 12, 0, false, varied, slackDocs},
	{"slack", "xoxa-", base64u, 12, 0, false, varied, slackDocs},
	{"slack", "xoxr-", base64u, 12, 0, false, varied, slackDocs},
	{"slack", "xoxs-", base64u, 12, 0, false, varied, slackDocs},
	{"slack", "xoxo-", base64u, 12, 0, false, varied, slackDocs},
	{"slack", "xoxc-", base64u, 12, 0, false, varied, slackDocs},
	{"slack", "xoxd-", base64s | base64u, 12, 0, false, varied, slackDocs},
	{"slack", "xoxe-", base64u, 12, 0, false, varied, slackDocs},
	{"slack", "xoxe.xox", base64u, 12, 0, false, varied, slackDocs},
	{"slack", "xapp-", base64u, 12, 0, false, varied, slackDocs},
	{"slack", "hooks.slack.com/services/", alnum | sym64, 20, 0, true, varied, slackDocs},
	{"slack", "hooks.slack.com/workflows/", alnum | sym64, 20, 0, true, varied, slackDocs},
	{"slack", "hooks.slack.com/triggers/", alnum | sym64, 20, 0, true, varied, slackDocs},
	{"google", "AIza", base64u, 35, 35, false, varied, googleDocs},
	{"google", "ya29.", base64u | dot, 20, 0, false, varied, googleDocs},
	{"google", "GOCSPX-", base64u, 28, 28, false, varied, googleDocs},
	{"google", "1//0", base64u, 30, 0, false, varied, googleDocs},
	{"stripe", "sk_live_", alnum, 10, 0, false, varied, stripeDocs},
	{"stripe", "sk_test_", alnum, 10, 0, false, varied, stripeDocs},
	{"stripe", "rk_live_", alnum, 10, 0, false, varied, stripeDocs},
	{"stripe", "rk_test_", alnum, 10, 0, false, varied, stripeDocs},
	{"stripe", "sk_prod_", alnum, 10, 0, false, varied, stripeDocs},
	{"stripe", "whsec_", base64s, 24, 0, false, varied, stripeDocs},
	{"anthropic", "sk-ant-", base64u, 20, 0, false, varied, "https://docs.anthropic.com/en/api/overview"},
	{"openrouter", "sk-or-v1-", hex, 40, 0, false, varied, "https://openrouter.ai/docs/api-reference/authentication"},
	{"openai", "sk-proj-", base64u, 20, 0, false, varied, openaiDocs},
	{"openai", "sk-svcacct-", base64u, 20, 0, false, varied, openaiDocs},
	{"openai", "sk-admin-", base64u, 20, 0, false, varied, openaiDocs},
	{"openai", "sk-None-", base64u, 20, 0, false, varied, openaiDocs},
	{"openai", "sk-", alnum, 32, 0, false, varied, openaiDocs},
	{"groq", "gsk_", alnum, 40, 0, false, varied, github2Docs},
	{"xai", "xai-", alnum, 60, 0, false, varied, github2Docs},
	{"perplexity", "pplx-", alnum, 40, 0, false, varied, github2Docs},
	{"replicate", "r8_", alnum, 37, 37, false, varied, github2Docs},
	{"huggingface", "hf_", alnum, 30, 40, false, varied, "https://huggingface.co/docs/hub/security-tokens"},
	{"huggingface", "api_org_", alnum, 30, 40, false, varied, "https://huggingface.co/docs/hub/security-tokens"},
	{"npm", "npm_", alnum, 36, 36, false, varied, "https://docs.npmjs.com/about-access-tokens"},
	{"pypi", "pypi-AgE", base64u, 50, 0, false, varied, "https://pypi.org/help/#apitoken"},
	{"rubygems", "rubygems_", hex, 48, 48, false, varied, github2Docs},
	{"docker", "dckr_pat_", base64u, 27, 36, false, varied, github2Docs},
	{"digitalocean", "dop_v1_", hex, 64, 64, false, varied, digitalDocs},
	{"digitalocean", "doo_v1_", hex, 64, 64, false, varied, digitalDocs},
	{"digitalocean", "dor_v1_", hex, 64, 64, false, varied, digitalDocs},
	{"sendgrid", "SG.", base64u | dot, 60, 72, false, sendgrid, "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys"},
	{"twilio", "SK", hex, 32, 32, false, lowerHex, "https://www.twilio.com/docs/iam/api-keys"},
	{twilioAccount, "AC", hex, 32, 32, false, lowerHex, "https://www.twilio.com/docs/iam/api-keys"},
	{"mailgun", "key-", hex, 32, 32, false, lowerHex, "https://documentation.mailgun.com/docs/mailgun/api-reference/authentication/"},
	{"brevo", "xkeysib-", hex | dash | alnum, 64, 0, false, varied, github2Docs},
	{"shopify", "shpat_", hex, 32, 32, false, varied, shopifyDocs},
	{"shopify", "shpca_", hex, 32, 32, false, varied, shopifyDocs},
	{"shopify", "shppa_", hex, 32, 32, false, varied, shopifyDocs},
	{"shopify", "shpss_", hex, 32, 32, false, varied, shopifyDocs},
	{"discord", "M", base64u | dot, 58, 90, false, discord, "https://discord.com/developers/docs/reference#authentication"},
	{"discord", "N", base64u | dot, 58, 90, false, discord, "https://discord.com/developers/docs/reference#authentication"},
	{"discord", "O", base64u | dot, 58, 90, false, discord, "https://discord.com/developers/docs/reference#authentication"},
	{"discord", "discord.com/api/webhooks/", base64u | sym64, 60, 0, true, varied, "https://discord.com/developers/docs/resources/webhook"},
	{"discord", "discordapp.com/api/webhooks/", base64u | sym64, 60, 0, true, varied, "https://discord.com/developers/docs/resources/webhook"},
	{"jwt", "eyJ", base64u | dot | sym64, 30, 0, false, jwt, "https://www.rfc-editor.org/rfc/rfc7519"},
	{"pem-base64", "LS0tLS1CRUdJTi", base64s, 40, 0, false, encodedKey, "https://www.rfc-editor.org/rfc/rfc7468"},
	{"age", "AGE-SECRET-KEY-1", upper | digits, 58, 58, false, nil, "https://github.com/FiloSottile/age"},
	{"age", "AGE-PLUGIN-", upper | digits | dash, 40, 0, false, nil, "https://github.com/C2SP/C2SP/blob/main/age-plugin.md"},
	{"onepassword", "ops_eyJ", base64u | sym64, 40, 0, false, varied, "https://developer.1password.com/docs/service-accounts/"},
	{"onepassword", "A3-", upper | digits | dash, 30, 40, false, onePassword, "https://support.1password.com/secret-key-security/"},
	{"vault", "hvs.", base64u, 24, 0, false, varied, vaultDocs},
	{"vault", "hvb.", base64u, 24, 0, false, varied, vaultDocs},
	{"vault", "hvr.", base64u, 24, 0, false, varied, vaultDocs},
	{"databricks", "dapi", hex | dash, 32, 34, false, varied, "https://docs.databricks.com/dev-tools/auth/pat"},
	{"linear", "lin_api_", alnum, 32, 0, false, varied, "https://linear.app/developers/graphql"},
	{"linear", "lin_oauth_", alnum, 32, 0, false, varied, "https://linear.app/developers/graphql"},
	{"notion", "secret_", alnum, 43, 43, false, varied, "https://developers.notion.com/docs/authorization"},
	{"notion", "ntn_", alnum, 40, 50, false, varied, "https://developers.notion.com/docs/authorization"},
	{"doppler", "dp.pt.", alnum, 40, 44, false, varied, dopplerDocs},
	{"doppler", "dp.ct.", alnum, 40, 44, false, varied, dopplerDocs},
	{"doppler", "dp.st.", alnum | dot | under | dash, 40, 0, false, varied, dopplerDocs},
	{"doppler", "dp.sa.", alnum, 40, 44, false, varied, dopplerDocs},
	{"flyio", "fm1_", base64s | base64u, 60, 0, false, varied, "https://fly.io/docs/security/tokens/"},
	{"flyio", "fm2_", base64s | base64u, 60, 0, false, varied, "https://fly.io/docs/security/tokens/"},
	{"flyio", "fo1_", base64u, 43, 0, false, varied, "https://fly.io/docs/security/tokens/"},
	{"supabase", "sbp_", hex, 40, 40, false, varied, supabaseDocs},
	{"supabase", "sb_secret_", base64u, 20, 0, false, varied, supabaseDocs},
	{"cloudflare", "v1.0-", hex | dash, 140, 0, false, varied, "https://developers.cloudflare.com/fundamentals/api/get-started/ca-keys/"},
	{"grafana", "glsa_", alnum | under, 40, 0, false, varied, grafanaDocs},
	{"grafana", "glc_eyJ", base64s, 40, 0, false, varied, grafanaDocs},
	{"newrelic", "NRAK-", alnum, 27, 27, false, varied, newrelicDocs},
	{"newrelic", "NRII-", base64u, 32, 32, false, varied, newrelicDocs},
	{"postman", "PMAK-", hex | dash, 50, 70, false, varied, github2Docs},
	{"pulumi", "pul-", hex, 40, 40, false, varied, github2Docs},
	{"terraform", "atlasv1.", base64u, 60, 70, false, varied, github2Docs},
	{"sentry", "sntrys_", base64s | under, 60, 0, false, varied, github2Docs},
	{"sentry", "sntryu_", hex, 64, 64, false, varied, github2Docs},
	{"planetscale", "pscale_tkn_", base64u | dot, 32, 0, false, varied, github2Docs},
	{"planetscale", "pscale_pw_", base64u | dot, 32, 0, false, varied, github2Docs},
	{"figma", "figd_", base64u, 38, 0, false, varied, github2Docs},
	{"airtable", "pat", alnum | dot, 79, 79, false, airtable, "https://airtable.com/developers/web/api/authentication"},
	{"square", "sq0csp-", base64u, 43, 43, false, varied, github2Docs},
	{"square", "sq0atp-", base64u, 22, 0, false, varied, github2Docs},
	{"square", "EAAA", base64u, 60, 60, false, varied, github2Docs},
	{"dynatrace", "dt0c01.", upper | digits | dot, 80, 0, false, varied, github2Docs},
	{"easypost", "EZAK", alnum, 54, 54, false, varied, github2Docs},
	{"adafruit", "aio_", alnum, 28, 28, false, varied, github2Docs},
	{"bearer", "Bearer ", base64u | dot | sym64, 16, 0, true, bearer, "https://www.rfc-editor.org/rfc/rfc6750"},
	{"basic", "Basic ", base64s, 8, 0, true, basic, "https://www.rfc-editor.org/rfc/rfc7617"},
	{"bearer", "bearer ", base64u | dot | sym64, 16, 0, true, bearer, "https://www.rfc-editor.org/rfc/rfc6750"},
}

// twilioAccount names the rule for account numbers, which holds only in a text that names Twilio.
const twilioAccount = "twilio-account"

// varied tells whether a token has at least eight different characters, which placeholders such as ghp_xxxx… lack.
func varied(s string) bool {
	var seen [256]bool
	n := 0
	for i := 0; i < len(s); i++ {
		if !seen[s[i]] {
			seen[s[i]] = true
			n++
		}
	}
	return n >= 8 && !strings.Contains(strings.ToLower(s), "xxxxxxxx")
}

// count gives the numbers of upper-case letters, lower-case letters and digits.
func count(s string) (up, low, dig int) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z':
			up++
		case c >= 'a' && c <= 'z':
			low++
		case c >= '0' && c <= '9':
			dig++
		}
	}
	return up, low, dig
}

// mixed tells whether s has capitals, small letters and digits, as nearly all random base64 of some length has.
func mixed(s string) bool {
	up, low, dig := count(s)
	return up > 1 && low > 1 && dig > 0 && varied(s)
}

func lowerHex(s string) bool {
	body := s[len(s)-32:]
	up, low, dig := count(body)
	return up == 0 && low > 0 && dig > 0 && varied(body)
}

func bearer(s string) bool {
	_, _, dig := count(s)
	return dig > 1 && varied(s)
}

// basic tells whether the credentials of the Basic scheme are base64 of user:password.
func basic(s string) bool {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.TrimPrefix(s, "Basic "), "="))
	if err != nil || len(b) < 3 || !strings.Contains(string(b), ":") {
		return false
	}
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

func sendgrid(s string) bool {
	p := strings.Split(s, ".")
	return len(p) == 3 && len(p[1]) >= 16 && len(p[2]) >= 32
}

// onePassword checks the grouping A3-XXXXXX-XXXXXX-XXXXX-XXXXX-XXXXX-XXXXX (or -XXXXXXXXXXX- for the middle two).
func onePassword(s string) bool {
	_, _, dig := count(s)
	return dig > 3 && strings.Count(s, "-") >= 5
}

func airtable(s string) bool { return len(s) > 17 && s[17] == '.' && strings.Count(s, ".") == 1 }

// discord checks that the first part is a user's number in base64, as it is in every bot token.
func discord(s string) bool {
	p := strings.Split(s, ".")
	if len(p) != 3 || len(p[1]) < 5 || len(p[1]) > 7 || len(p[2]) < 27 {
		return false
	}
	id, err := base64.RawURLEncoding.DecodeString(p[0])
	if err != nil || len(id) < 15 {
		return false
	}
	_, _, dig := count(string(id))
	return dig == len(id)
}

// jwt checks for the three parts of a signed token (five of an encrypted one), of which the first is a JSON object
// that names an algorithm.
func jwt(s string) bool {
	p := strings.Split(s, ".")
	if len(p) < 3 || len(p[1]) < 4 {
		return false
	}
	head, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(p[0], "="))
	return err == nil && len(head) > 2 && head[0] == '{' && head[len(head)-1] == '}' && strings.Contains(string(head), `"alg"`)
}

// encodedKey tells whether the base64 of a PEM block, as Kubernetes has it, is that of a private key.
func encodedKey(s string) bool {
	head, _ := base64.RawStdEncoding.DecodeString(s[:min(len(s), 80)&^3]) // a prefix of what decodes is enough
	return strings.Contains(string(head), "PRIVATE KEY")
}
