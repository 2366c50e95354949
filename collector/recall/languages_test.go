package recall

import (
	"context"
	"testing"

	"golang.org/x/text/unicode/norm"

	"kiro-learn/internal/event"
)

// A question in any script brings its record first, among others of the same language and of others.
func TestLanguages(t *testing.T) {
	e, s := newEngine(t)
	load(t, s, []event.Record{
		{Title: "数据库迁移窗口", Summary: "迁移只在周日凌晨进行，需要两个人在场。"},
		{Title: "缓存策略", Summary: "我们使用Redis缓存会话，过期时间十分钟。"},
		{Title: "日志保留", Summary: "日志保留三十天。"},
		{Title: "猫の写真", Summary: "猫の画像はサムネイルにする。"},
		{Title: "予約の締切", Summary: "公演の24時間前まで取り消せる。"},
		{Title: "ビルドサーバー", Summary: "ビルドは東京リージョンで動く。"},
		{Title: "결제 재시도", Summary: "결제가 실패하면 세 번까지 다시 시도한다."},
		{Title: "로그 보관", Summary: "로그는 삼십 일 동안 보관한다."},
		{Title: "배포 일정", Summary: "배포는 화요일 오전에 한다."},
		{Title: "سياسة النسخ الاحتياطي", Summary: "يتم نسخ قاعدة البيانات كل ساعة."},
		{Title: "إدارة المستخدمين", Summary: "يحذف المستخدم بعد شهر."},
		{Title: "Résumé des décisions", Summary: "Le café est fermé, la requête passe par le serveur de Genève."},
		{Title: "Größe der Donaudampfschifffahrt", Summary: "Die Straße wird nicht gekürzt."},
		{Title: "Очередь сообщений", Summary: "Сообщения хранятся семь дней."},
		{Title: "ＡＰＩゲートウェイ", Summary: "ゲートウェイの制限は毎分６０件。"},
		{Title: "Upload queue", Summary: "The upload worker reads userUploads."},
	}, 0)
	for _, tt := range []struct{ name, prompt, want string }{
		{"chinese, a question", "什么时候可以做数据库迁移？", "数据库迁移窗口"},
		{"chinese, two characters", "缓存", "缓存策略"},
		{"chinese, two characters in a sentence", "请问我们的日志要留多久？", "日志保留"},
		{"latin glued to chinese", "为什么使用redis缓存", "缓存策略"},
		{"latin taken out of chinese", "why redis?", "缓存策略"},
		{"japanese, one character", "猫の写真は？", "猫の写真"},
		{"japanese, two characters in a sentence", "予約はいつまで取り消せますか", "予約の締切"},
		{"japanese, katakana", "ビルドはどこで動く？", "ビルドサーバー"},
		{"half width katakana", "ﾋﾞﾙﾄﾞはどこで動く？", "ビルドサーバー"},
		{"korean with other particles", "결제는 몇 번 재시도하나요?", "결제 재시도"},
		{"korean, two characters in a sentence", "배포를 언제 하나요?", "배포 일정"},
		{"korean, decomposed", norm.NFD.String("로그를 얼마나 보관하나요?"), "로그 보관"},
		{"arabic with an article", "متى يتم النسخ الاحتياطي؟", "سياسة النسخ الاحتياطي"},
		{"arabic without one", "نسخ قاعدة البيانات", "سياسة النسخ الاحتياطي"},
		{"arabic without hamza", "ادارة المستخدمين", "إدارة المستخدمين"},
		{"accents left out", "resume des decisions", "Résumé des décisions"},
		{"accents composed", norm.NFC.String("où passe la requête de Genève ?"), "Résumé des décisions"},
		{"accents decomposed", norm.NFD.String("où passe la requête de Genève ?"), "Résumé des décisions"},
		{"a german compound", "wie groß ist die Donaudampfschifffahrt?", "Größe der Donaudampfschifffahrt"},
		{"sharp s", "STRASSE", "Größe der Donaudampfschifffahrt"},
		{"russian", "сколько дней хранятся сообщения?", "Очередь сообщений"},
		{"full width in the record", "API gateway: which limit does the api have? ゲートウェイ", "ＡＰＩゲートウェイ"},
		{"full width in the prompt", "ｕｐｌｏａｄ　ｑｕｅｕｅ", "Upload queue"},
		{"an identifier in pieces", "user uploads", "Upload queue"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := e.Context(context.Background(), Query{Namespace: testSpace, Text: tt.prompt}, ContextOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Records) == 0 || c.Records[0].Title != tt.want {
				first := "nothing"
				if len(c.Records) > 0 {
					first = c.Records[0].Title
				}
				t.Errorf("%q brought %q first, want %q", tt.prompt, first, tt.want)
			}
		})
	}
	for _, idle := range []string{"谢谢，请继续", "请修复这个错误", "テストを追加してください", "이 함수를 리팩터링해줘", "أضف اختبارات", "ajoute des tests", "исправь ошибку", "bitte weiter"} {
		c, err := e.Context(context.Background(), Query{Namespace: testSpace, Text: idle}, ContextOptions{})
		if err != nil || c.Text != "" {
			t.Errorf("%q brought %q, %v; want nothing", idle, c.Text, err)
		}
	}
}
