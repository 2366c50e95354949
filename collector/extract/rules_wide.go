package extract

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// wideTerms are common words of the trade in scripts that put no spaces between words, or glue endings to them, by their
// first character, the longest first.
var wideTerms = sync.OnceValue(func() map[rune][]string {
	m := make(map[rune][]string)
	for _, w := range strings.Fields(`函数 变量 常量 参数 接口 类型 对象 数组 字符串 指针 数据库 数据表 表名 字段 主键 外键 缓存 重试 超时 上传 下载 网关 客户端 服务器 服务端
		微服务 部署 单元测试 测试 配置 日志 报错 错误码 异常 崩溃 队列 线程 协程 进程 并发 死锁 锁 索引 查询 迁移 版本 分支 提交 合并 回滚 依赖 脚本 模块 组件 插件 文件 目录
		路径 权限 令牌 密钥 证书 加密 登录 认证 鉴权 会话 请求 响应 端口 协议 编码 解析 序列化 压缩 限流 熔断 监控 告警 定时任务 调度 事务 备份 镜像 容器 集群 前端 后端 页面 代码
		源码 算法 性能 内存 磁盘 网络 连接池 连接 延迟 吞吐 编译 构建 打包 发布 框架 中间件 路由 订单表 消息 订阅 幂等 分页 校验 补丁 仓库 命令行 环境变量 正则 流水线
		函數 變數 參數 介面 資料庫 資料表 欄位 快取 重試 逾時 上傳 下載 閘道 用戶端 伺服器 部署 測試 設定檔 日誌 錯誤 例外 佇列 執行緒 並行 查詢 遷移 腳本 模組 檔案 路徑 權限 金鑰 請求 回應 編譯
		関数 変数 引数 配列 文字列 データベース テーブル カラム キャッシュ リトライ 再試行 タイムアウト アップロード ダウンロード ゲートウェイ クライアント サーバー サーバ デプロイ テスト 設定 ログ エラー
		例外 クラッシュ キュー スレッド プロセス 並行 ロック インデックス クエリ マイグレーション バージョン ブランチ コミット マージ ロールバック 依存関係 スクリプト モジュール コンポーネント プラグイン ファイル
		ディレクトリ パス 権限 トークン 証明書 暗号化 ログイン 認証 セッション リクエスト レスポンス ポート プロトコル エンコード パース 圧縮 監視 ジョブ スケジューラ トランザクション バックアップ コンテナ クラスタ
		フロントエンド バックエンド コード アルゴリズム メモリ ディスク ネットワーク 接続 レイテンシ コンパイル ビルド リリース フレームワーク ルーティング 環境変数 実装 リポジトリ
		함수 변수 인자 배열 문자열 데이터베이스 테이블 컬럼 캐시 재시도 타임아웃 업로드 다운로드 게이트웨이 클라이언트 서버 배포 테스트 설정 로그 오류 에러 예외 큐 스레드 프로세스 동시성 잠금 인덱스 쿼리
		마이그레이션 버전 브랜치 커밋 병합 롤백 의존성 스크립트 모듈 컴포넌트 플러그인 파일 디렉터리 디렉토리 경로 권한 토큰 인증서 암호화 로그인 인증 세션 요청 응답 포트 프로토콜 인코딩 파싱 압축 모니터링 트랜잭션
		백업 컨테이너 클러스터 프론트엔드 백엔드 코드 알고리즘 메모리 디스크 네트워크 연결 지연 컴파일 빌드 릴리스 프레임워크 라우팅 환경변수 구현 저장소`) {
		r, _ := utf8.DecodeRuneInString(w)
		m[r] = append(m[r], w)
	}
	for _, list := range m {
		slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	}
	return m
})

// wideTermsIn gives the different words of the trade in a text of such a script.
func wideTermsIn(s string) (out []string) {
	if !hasWide(s) {
		return nil
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r >= 0x1100 { // where such scripts begin
			for _, w := range wideTerms()[r] {
				if strings.HasPrefix(s[i:], w) {
					n = len(w)
					if !slices.Contains(out, w) {
						out = append(out, w)
					}
					break
				}
			}
		}
		i += n
	}
	return out
}
