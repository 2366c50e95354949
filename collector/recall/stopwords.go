package recall

import (
	"strings"
	"sync"
)

// The lists below hold folded words. Words that mean something in another language (die, war, man, son, pour) are left out of
// that language's list.

const stopEnglish = `a about above again ain also am an and any are aren arent as at be because been
being below both but by can cannot cant could couldnt did didnt do does doesnt doing done dont during each
else ever few for from further got had hadnt has hasnt have havent having he hed her here heres
hers herself hes him himself his how hows i if ill im in is isnt it its itself ive just let lets like ll
may maybe me might mine much must mustnt my myself nor now of
often on once one onto or our ours ourselves please quite rather re really s shall
shant she shed shes should shouldnt since so some such t than that thats the their theirs them themselves then there
theres these they theyd theyll theyre theyve this those though thus to too until upon us
ve very was wasnt way we wed well were werent weve what whats when whens where wheres whether which while
who whom whos whose why whys will with within without wont would wouldnt yes yet you youd youll your youre yours
yourself yourselves youve called anything something everything nothing someone anyone thing things lot many
even
remember remind`

const stopOther = `aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dem den der des dich dir doch du
durch ein eine einem einen einer eines er es euch fur haben habe hatte ich ihm ihn ihr ihre im ist ja jede jeder jetzt
kann kein keine koennen konnen mein mich mir mit muss nach nicht noch nur oder ohne schon sehr sein seine sich sie sind
soll uber um und uns unser unter vom von vor wann warum wenn werden wie wieder wird wir wo wurde wurden zu zum zur
au aux avec ce ces cette comment dans de des du elle elles en est et etait etre il ils je la le les leur lui mais mes
moi mon ne nous ou par plus pourquoi qu quand que quel quelle quels qui sa sans ses si sont sur ta te tes toi ton tu un
une vos votre vous
al algo ante como cual cuando cuanto del desde donde el ella ellos entre era eres es esa ese eso esta este esto
fue ha hay las lo los mas mi mis muy nada nos o para pero por porque puede que se sobre su sus tambien tengo tiene
tu una uno y ya yo
ao aos ate da das do ela ele eles em foi isso isto ja mas meu na nao nas nem nos num numa pela pelo
qual quando sao sem ser seu sua tem uma voce
che chi ci come cosa cui dal dalla degli dei del della delle di dove gli ho ma nel nella non perche piu quale
quando quello questa questo sono sta su suo tra
aan als bij dat deze dit door een en er geen het hij hoe ik in is je maar met mijn naar niet nog of om ons ook op te
tot uit van voor waar waarom wat we wel wie wij worden zij zijn zo
что как это не на по для из или но мы вы он она они был была было быть где когда почему чтобы же бы уже все сколько какой
какая какие кто зачем у в и с о к
ما ماذا من في علي الي عن مع هذا هذه ذلك تلك التي الذي ان كان لا لم لن هل هو هي نحن انا قد ثم او كم متي اين لماذا كيف اي يتم تم كل
bir bu ve ile icin mi nasil neden nerede hangi nedir
czy jak co kiedy gdzie dlaczego jest sie nie oraz dla`

// Hiragana words of grammar and courtesy, and their kin in Chinese and Korean, as the pairs and characters they are cut in.
const stopJoined = `です ます した して いる ある する から まで など これ それ あれ この その どの ので のに には では とは へは でし まし せん ませ
とう うご ござ ざい いま ます あり りが がと お願 願い いし しま くだ ださ さい 什么 怎么 为什 么时 时候 我们 你们 他们 这个 那个 一个 可以 没有 谢谢 你好 请问 多少 的 了 是 在 我 你 他
她 它 们 吗 呢 吧 啊 着 把 和 与 也 都 就 不 有 这 那 很 什 么 怎 니다 습니 합니 하는 에서 으로 까지 부터 감사 안녕 하나 나요 인가 가요 어떻 떻게 무엇 언제 어디 어떤 누가 있나 되나 됩니 입니 하세 세요 해주 해줘 주세 했나 었나 은 는 이 가 을 를 에 의 도 로 몇 왜 何 どう こに いつ なぜ かか`

// chatWords say something to the agent and nothing about the work. A prompt of nothing else asks for no memory.
const chatWords = `hello hi hey hiya yo greetings howdy morning afternoon evening night bye goodbye cheers thanks thank thankyou thx ty
ok okay okey k kk sure yep yeah yea yup nope nah agreed agree right correct exactly perfect great good nice cool awesome
excellent fantastic amazing wonderful brilliant lovely super wow fine lgtm sgtm approved approve accept accepted continue
proceed go ahead keep going carry next resume stop wait cancel abort nevermind mind understand differently sorry apologies oops welcome help
looks look sounds sound works work again retry try ready start begin finish done test testing ping day today
danke bitte hallo gut genau weiter merci bonjour salut oui non hola gracias vale si bueno obrigado obrigada ola sim
ciao grazie prego privet спасибо привет да нет хорошо`

// taskWords ask for work of any sort, or hold a sentence together and yet help to find what was said in the same
// words. They match, but they are no evidence that a record is meant.
const taskWords = `write add fix create implement run show explain change update check look find see give put set try tried tries trying think help work
works working start new good better best first last time times file files code line lines project please handle go
take come keep move build made small simple quick quickly great sure today back right different people
review summarize summarise summary describe list open read print generate refactor edit improve
make made makes making use used using get gets getting need needs via per same want know tell call only all not no still
already always never out off up down over under after before more most own other against between into through`

type wordLists struct {
	stop, chat, task                                      map[string]bool
	common, software                                      map[string]bool // stems
	question, order, prelude, may, time, ours, here, mine map[string]bool
}

func wordSets() *wordLists { return loadWords() }

var loadWords = sync.OnceValue(func() *wordLists {
	set := func(lists ...string) map[string]bool {
		m := map[string]bool{}
		for _, l := range lists {
			for _, w := range strings.Fields(l) {
				m[w] = true
			}
		}
		return m
	}
	stems := func(list string) map[string]bool {
		m := map[string]bool{}
		for w := range set(list) {
			m[string(stem([]byte(w)))] = true
		}
		return m
	}
	software := stems(softwareWords)
	for w := range set(softwareJoined) {
		software[w] = true
	}
	return &wordLists{
		stop: set(stopEnglish, stopOther, stopJoined), chat: set(chatWords), task: set(taskWords),
		common: stems(commonWords), software: software,
		question: set(questionWords), order: set(orderWords), prelude: set(preludeWords),
		may: set(mayWords), time: set(timeWords), ours: set(ourWords), here: set(hereWords), mine: set(mineWords),
	}
})
