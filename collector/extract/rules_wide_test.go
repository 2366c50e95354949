package extract

import (
	"strings"
	"testing"

	"kiro-learn/internal/event"
)

// TestTurnsInScriptsWithoutSpaces: a request and its answer, without a tool or a word of English, are remembered; small
// talk is not.
func TestTurnsInScriptsWithoutSpaces(t *testing.T) {
	for _, c := range []struct {
		name, prompt, answer string
		about                string // in the record's title or summary; empty: there is none
	}{
		{"Chinese request", "请把上传任务的重试次数限制为三次。", "已经把上传任务的重试次数限制为三次，因为网关会对每个客户端限流。", "限流"},
		{"Chinese statement", "订单服务连接数据库经常超时。", "原因是连接池太小，每次查询都要等待空闲连接。", "连接池太小"},
		{"Chinese question", "为什么登录会话会丢失？", "会话保存在缓存里，部署新版本时缓存会被清空。", "缓存会被清空"},
		{"traditional Chinese", "請幫我把資料庫的備份改成每天一次。", "備份改成每天凌晨兩點，資料庫不會被鎖住。", "凌晨兩點"},
		{"Japanese", "アップロードのリトライ回数を三回までにしてください。", "ゲートウェイの制限があるため、リトライは三回までに変更しました。", "三回まで"},
		{"Korean", "업로드 재시도 횟수를 세 번으로 제한해 주세요.", "게이트웨이 제한 때문에 업로드 재시도를 세 번으로 제한했습니다.", "게이트웨이"},
		{"Chinese greeting", "你好", "你好！有什么可以帮你的吗？", ""},
		{"Chinese thanks", "好的，谢谢！", "不客气，随时可以找我。", ""},
		{"Chinese small talk", "今天天气怎么样？", "抱歉，我无法获取实时天气信息。", ""},
		{"a joke", "给我讲个笑话吧。", "有一只小猫去钓鱼，结果钓到了一只鞋。", ""},
		{"a poem about a server", "写一首关于服务器的诗。", "服务器在夜里低声歌唱，日志像雪一样落下，代码沉睡。", ""},
		{"Japanese greeting", "こんにちは", "こんにちは！何かお手伝いできることはありますか？", ""},
		{"Japanese thanks", "ありがとうございます、助かりました。", "どういたしまして。また何かあれば声をかけてください。", ""},
		{"Korean greeting", "안녕하세요", "안녕하세요! 무엇을 도와드릴까요?", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Rules([]Turn{said(c.prompt, c.answer)}, func() string { return "mr_01ARZ3NDEKTSV4RRFFQ69G5FAV" })
			if c.about == "" {
				if len(got) > 0 {
					t.Errorf("%+v", got)
				}
				return
			}
			for _, r := range got {
				if (r.ObservationType == event.TypeSessionSummary || r.ObservationType == event.TypeDiscovery) && strings.Contains(r.Title+"\n"+r.Summary+"\n"+strings.Join(r.Facts, "\n"), c.about) && len(r.SourceEventIDs) == 2 {
					return
				}
			}
			t.Errorf("no summary with %s: %+v", c.about, got)
		})
	}
}
