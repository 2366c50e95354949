package recall

// commonWords are words of everyday and of any software project. That a record holds one says little about whether a prompt is
// about it; that the project has never seen one says little against it.
const commonWords = `people year time way day man woman life child children world school state family student group country problem
hand part place case week company system program question work government number night point home water room mother area
money story fact month right study book eye job word business issue side kind head house service friend father power
hour game line end member law car city community name team minute idea kid body information back parent face others
level office door health person art war history party result change morning reason research girl guy moment air teacher
force education photo picture event activity trip food music movie song dog cat pet birthday meal dinner hobby interest
feel feeling leave begin talk turn hear play move live believe hold bring happen provide sit stand lose pay meet include
set learn lead understand watch follow create speak allow spend grow walk win offer remember love consider appear buy
serve die send expect stay fall cut reach remain suggest raise pass sell require report decide pull share join receive
enjoy attend visit plan hope care support help inspire motivate keep recently currently often usually together long
little own old big high large next early young important few public bad able free real hard late full sure clear able
main special certain whole possible current specific particular type sort size amount plenty thing stuff impact reason
experience opinion decision choice advice goal dream future past yesterday tomorrow weekend january february march april
june july august september october november december monday tuesday wednesday thursday friday saturday sunday
file code function method class error bug test data server client user request response value key list string config
configuration build deploy api version update default option flag field table row column index query message log debug
print return call input output read write load save start stop run command script package module library import export
project repo repository branch commit merge pull push issue feature page button form link text image color style
number count total size limit check handle handler support remove delete create insert add fix rename move copy set
one two three four five six seven eight nine ten hundred thousand third half double dead broken slow startup src dist mac macos linux windows
android ios wrong false true weird strange odd funny ugly pretty beautiful huge tiny wide narrow deep heavy light easy difficult
hard complex soon late later almost nearly really actually probably perhaps certainly finally suddenly sometimes instead
anyway whatever somehow everywhere seem become wonder worry hate love like prefer wish hurry relax discuss mention notice
forget lose choose pick throw catch carry hit touch push lift fill cover protect prepare produce complete repeat reply
respond matter mistake trouble detail piece bit pair group list order point part area center middle corner edge beginning end
north south east west red green white black yellow dark bright warm cold hot dry wet clean dirty safe dangerous rich poor
cheap expensive strong weak loud quiet happy sad angry tired busy ready alone available necessary useful useless nice
popular famous favorite perfect normal usual regular extra enough less least most worst worse better best ago today tonight
daily weekly monthly twice once per
say said tell told ask answer mean get make use need work change new old first last next previous same different internal external simple common general
local remote global public private main app application web site network connection timeout process thread task job
action event state status result type name path directory folder environment variable parameter argument object array
map node root parent model view template component service document docs comment description example sample`

// softwareWords are words of programming in any project, and of asking for it. A large project has used them all, in every
// combination, so there a record that holds some of them is hardly more likely to be the one that a prompt is about.
const softwareWords = `abstract access account across admin alert algorithm alias all allocate analyse analytics analyze anchor animation
annotate annotation another apply archive argument around array arrow assert assertion asset async attribute audit
auth authentication authorization autocomplete avatar avoid await backend background backup badge banner bar base64
bash batch baz benchmark between bigger binary bind black block blue body boilerplate boolean bootstrap border bottom
bounds box branch breakpoint browser buffer build builder bump bundle bundler button byte cache callback camel card
carousel cast catch categories cell center changelog channel character chart checkbox checkout child chunk class clean
cleaner cleanup click client clipboard clone close cluster codebase collapse collection color colour column combine
command comment commit compare compile compiler complexity component compress computed concurrency condition
conditional configure confirm conflict console constant constructor container context contract controller convention
conversion convert cookie correct cors coverage crash cron css csv currency cursor custom cycle daemon dark dashboard
database dataset date day debounce debug debugger declare decode decorator decrypt default define dependencies
dependency deprecated deprecation design desktop destructure detect developer diagram dialog dictionary diff
difference digest directories directory disable display docker dockerfile docs docstring documentation dom domain
download draft drag dropdown dto duplicate duration dynamic each edge edit editor element email embed emit empty
enable encode encoding encrypt encryption endpoint engine ensure entire entities entity entry enum env environment
error escape eslint event every everything example exception execute existing exit export expose expression extension
extract factory fail failing failure fake fallback fast faster favicon feature fetch fields filename filter five
fixture flag flaky flex flow folder font foo footer form format formatter formatting framework friendly frontend full
function functional gallery generate generator generic getter git github gitignore global grammar graph graphql green
grid group guard guide handler handling hash header health helper hidden hide highlight history homepage hook host
hour hover html http https icon id identifier image immutable implement implementation import indent indentation index
inheritance initialize inject injection inline input insert inside inspect install instance instead integer
integration interface invalid invalidate investigate invoice isolate item iterate iterator java javascript jest job
join json jwt key keyboard keyword label lambda landing language latency latest layer layout lazy leak left legacy
length libraries library license lifecycle light limit line link linked lint linter linting listener lists literal
loader loading local locale localhost localization lock log logger logging logic login logo logout loop macro mail
main makefile manifest map markdown markup match matrix mean measure memory menu merge message metadata metric
microservice middleware migrate migration minify minute missing mobile mock modal model modern modify monitor
monitoring monorepo multiple mutation namespace navbar navigate navigation nested network nicer node normalize
notification npm null nullable number object offline offset only operator optimise optimize optional order orm output
outside overflow overlay override overview package pad padding page paginate pagination pair parallel param parameter
parse parser password paste patch path pattern payload performance permission pipeline pixel placeholder platform
playground plot plugin pointer polish polling popup port post prefix prevent preview primary primitive printing
privacy private process processing product production profile programming progress promise prompt prop proper
properties property protocol prototype provide provider proxy public publish python queries query queue quote qux
radio random range raw react readability readable readme recursion recursive red redirect reduce redux refactor
reference refresh regex regexp register registration regression regular relation release reload rename render
rendering reorganize repeat replace replica report repository require reset resize resource responsive rest restart
restructure retry return reusable reverse revert review rewrite right role rollback root rotate route router routing
row ruby runtime rust sample sandbox sanitize schema scope screen screenshot script scroll sdk search second secret
section security select semicolon separate sequence serialize serializer server serverless session setter settings
setup several shadow shell shortcut shorter shuffle sidebar signature signin signup simpler simplify single singleton
skeleton slice slider slow slug smaller snapshot snippet socket software sort sorting source spec specify spelling
spinner split sql squash ssh ssl stack staging standard starter state static step sticky storage store stream
streaming strict string stub style stylesheet submit subscribe subscription suite summary svg swagger swap switch
symbol sync syntax tab table tag target task team template ten tenant terminal terraform test testing tests text theme
thirty thread throttle throw tidy tile timeline timeout timer timestamp timezone title toast toggle token tool toolbar
tooltip top trace tracing track transaction transform transition translate translation transparent tree trigger trim
truncate tuple tutorial type typescript typing typo ui undefined undo unit unused update upgrade upload uppercase url
usage user username util utility utils validate validation validator value variable variant vector vendor verbose
version video view viewport virtual visible visual vulnerability warning watch web webhook webpack website websocket
white whole widget width wildcard window wire without wizard word work workflow workspace wrap wrapper xml yaml yellow
zip`

// softwareJoined are the same in scripts without spaces, as the pairs that they are cut in.
const softwareJoined = `数据 代码 函数 文件 测试 错误 修复 添加 修改 删除 重构 实现 优化 项目 运行 接口 配置 更新 问题 解释 编写 创建
修正 追加 実装 変更 削除 テス スト エラ ラー コー ード ファ ァイ イル 関数 実行 確認 作成 説明 更新 機能
추가 수정 삭제 함수 코드 파일 테스 스트 오류 에러 구현 변경 실행 작성 리팩 팩터 터링 설명 생성 버그 문제`
