"""What is being asked: small talk, a list, a comparison, several things at once, a question that needs the turns before it.

Pure rules over the words of the question; knows no paper and calls no model.
"""

from __future__ import annotations

import re
import unicodedata

from .lexical import terms

MOST_PARTS = 4
"""Questions in one that are answered one by one; more are a text, not questions."""
MAX_QUESTION = 4000
"""Characters that are searched; what is past it is left out of the search, not of the conversation."""

_SMALL_TALK = re.compile(
    r"^\W*(?:(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks?|thank you|thx|ty|cheers|ok(?:ay)?|great|cool|nice|perfect|awesome|"
    r"super|wow|got it|i see|bye|goodbye|good night)"
    r"(?:[ ,]+(?:there|all|everyone|you|so much|very much|a lot|again|very clear|(?:that'?s?|this is|this was|it was) (?:all|great|helpful|clear|perfect)|"
    r"for (?:that|this|the help|your help|now)|then|much appreciated|appreciated))*\W*)+"
    r"|(?:and )?(?:what|how) (?:else )?can (?:you|i) (?:do|ask|help)(?: (?:me|with|you|here).{0,20})?|who (?:are|made) you|what are you|are you (?:an? )?(?:ai|bot|human|robot)"
    r"|how does this work|what is this|help(?: me)?)\W*$",
    re.IGNORECASE,
)
_SIMILAR = re.compile(r"^\W*(?:and |ok(?:ay)?,? |so )*(?:(?:are|is) there |do (?:you|we) have |got |show me |find me |what are |which are |list )?(?:any |some |the |more |other )*(?:similar|related|comparable) (?:ones|papers?|works?|studies|stuff|articles|things)?(?: here| to (?:it|this|that(?: one)?|this paper|that paper))?\W*$|^\W*anything similar\W*$|^\W*(?:are there |is there )?(?:any |some |more |other )*(?:papers?|works?|anything) like (?:it|this|that)(?: one)?\W*$", re.IGNORECASE)
_DOUBTS = re.compile(
    r"^\W*(?:(?:no|hm+|ok(?:ay)?|well|but|sorry)[ ,.]+)*(?:are you (?:really |quite )?sure(?: about (?:that|this|it))?|(?:is|was) (?:that|this|it) (?:really )?(?:right|correct|true)|sure|really sure|that['’]?s? (?:is |was )?(?:not (?:what i (?:asked|meant|wanted)(?: for)?|right|correct|true|it|helpful)|wrong|incorrect|nonsense)|"
    r"(?:this|that|it) (?:doesn['’]?t|does not) answer (?:my|the) question|you (?:are wrong|misunderstood(?: me)?|didn['’]?t answer(?: my question)?)|wrong(?: paper| answer)?|(?:make it |a bit |be |much )?(?:shorter|briefer|more concise)|too long|shorter answer)(?: please| pls)?\W*$",
    re.IGNORECASE,
)
_OF_LIBRARY = re.compile(
    r"^\W*(?:(?:can you |please |could you )*(?:give|show) me )?(?:an |a (?:short |quick )?)?(?:overview|summary) of (?:this|the|your|my) (?:library|collection|pile|papers|set)\W*$|^\W*what (?:topics|subjects|areas|fields|themes)\b.{0,40}\b(?:covered?|here|in (?:this|the|your|my) (?:library|collection|pile|set)|there)\W*$"
    r"|^\W*what(?:['’]?s| is) in (?:this|the|your|my) (?:library|collection|pile|set)\W*$|^\W*(?:tell me (?:something|anything)(?: interesting)?|surprise me|where (?:do|should) i (?:start|begin)|what (?:should|can) i ask(?: you)?)\W*$"
    r"|^\W*how many (?:papers|abstracts|documents|entries)(?: (?:are|do) (?:there|you (?:have|hold|know)|we have))?(?: (?:are )?(?:in (?:total|all|here|(?:this|the|your|my) (?:library|collection|pile|set))|altogether|here))*\W*$",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"\b(?:it(?! that\b)|its|it's|they|them|their|theirs|this|(?<!is it )(?<!was it )that|these|those|ones|he|she|his|her|"
    r"(?:the|that|this) (?:paper|method|model|approach|authors?|study|work|system|benchmark|data ?set)(?! (?:that|which|who|on|about|from|where|for|of|called|named|by|with|in|to)\b)|same)\b",
    re.IGNORECASE,
)
_ORDINAL = re.compile(
    r"(?:\b(?:the|that) (first|second|third|fourth|fifth|last|former|latter|other|1st|2nd|3rd|4th|5th) ?(?:one|ones|paper|of (?:them|these|those)|method|work|study)?"
    r"|\bpaper (?:no\.? ?|number |#)?(\d{1,2})|\[(\d{1,2})\])(?=\W|$)",
    re.IGNORECASE,
)
_CONTINUES = re.compile(
    r"^\W*(?:(?:and|but|so|also|or|then|why not|go on|which of|any other|else|ok(?:ay)?[.,]? (?:and|but|so|what|how|why|which))\b|(?:what|how) about\b"
    r"|(?:why|how|how so|more|tell me more|really|(?:an |any )?examples?|elaborate|explain|details?|continue|where|when|how (?:much|many)|any (?:numbers|results|limitations|code|theory|proof)|"
    r"in (?:short|plain (?:words|english))|what else)\W*$|[^,]*\bthen\W*$)",
    re.IGNORECASE,
)
_NEW_SUBJECT = re.compile(
    r"\b(?:new (?:question|topic|subject)|(?:something|completely|totally) (?:different|else)|different (?:question|topic|subject)|unrelated|another (?:question|topic|thing)|"
    r"moving on|next (?:question|topic|paper|one)|one more(?= ?[:–-])|(?<=[a-z]) (?:now|next)(?=[.:] )|change of (?:topic|subject)|switching (?:topics?|subjects?|gears)|now (?:on )?to)\b|^\W*(?:(?:is|are) there |do (?:you|we) have |got |and )?any(?:thing|one)? (?:here )?(?:on|about)\b(?! (?:it|this|that|them|these|those|its|the (?:paper|method|model|data|authors?)|run ?time|speed|cost|limitations?|code|data|results)\b)|^\W*(?:and |ok(?:ay)?,? |so )*(?:is|are) there (?:any|an?|some|also an?) (?:other )?(?:papers?|work|study|studies|abstracts?) (?:on|about|that|which|where|with|for)\b|^\W*(?:and |ok(?:ay)?,? )?now,? (?!(?:what|how|why|which|who|where|when|does|do|did|is|are|can|for|in|the (?:second|other|first|last)|that|this|compare)\b)",
    re.IGNORECASE,
)
_RETURNS = re.compile(r"\b(?:back to|return(?:ing)? to|again)\b", re.IGNORECASE)

NOUNS_FOR_PAPERS = r"(?:papers?|abstracts?|works|articles?|stud(?:y|ies)|publications?|titles)"
_MANY = r"(?:papers|abstracts|works|articles|studies|publications|submissions)"
_OF_A_PAPER = r"(?:it|this|that|them|these|those|its|the (?:paper|method|model|data|authors?)|run ?time|speed|cost|limitations?|code|data|results)\b"
"""What "anything on …" asks of the paper spoken of, rather than of all."""
_SOME = r"(?:work|works|research|results|literature|stuff|studies|papers|abstracts|methods|approaches|attempts)"
_ON = r"(?:here |in here |in this \w+ |in it |out there |done )?(?:on|about|with|using|that|which|for|around|concerning|regarding|in the area of|to do with)\b"
_MADE_IT = r"(?:wrote|written|write|author\w*|publish\w*|made|make|makes|created?|creates|came|come|behind|proposed?|introduced?|invent\w*|built|develop\w*|present\w*|responsible|funded|sponsor\w*|paid|pays|is|are|was|were|should|would|could|can|do|does|did|the|you|needs?|won|wins|leads?|led|tops?|ranks?|says?|said|proved|found|showed|discovered|reported|argued|noticed|claims?|claimed|benefits?|else did|named|tested (?:more|most))\b"
_LIST = re.compile(
    rf"\b(?:which|what|how many|any|all|every|each|more|enumerate|other)(?: of)?(?: the| these| those| your| our| other| all| relevant| recent| single)* {_MANY}\b"
    rf"|\b(?:all|every|each)(?: the| of the| relevant| single)? {NOUNS_FOR_PAPERS}\b"
    rf"|\b(?:list|enumerate|name(?! of))(?: me)?(?: out)?(?: up)?(?: all| every| everything| the| of)* (?:\w+[ -]){{0,4}}?{NOUNS_FOR_PAPERS}\b"
    rf"|^\W*(?:please |pls )?(?:list|enumerate)\b(?! (?:of|its|their|his|her|(?:me )?(?:all )?the (?!{_MANY}|ones|(?:[\w-]+ ){{1,4}}{_MANY})))"
    rf"|\b(?:find|show|give|get|tell)(?: me| us)?(?: all| every| everything| the| any)*(?: relevant)? {_MANY}\b"
    rf"|\bgot (?:any ?thing|any {_MANY})\b|\banything (?:on|about|for|in) .+(?:\ball of it\b|\blist\b)"
    rf"|^\W*{_MANY} (?:that|which|who|on|about|with|naming|using|mentioning|where|whose|from|by|in|for|of|concerned|dealing|studying|to|published|since|before|after)\b"
    rf"|\bwhat (?:all )?(?:do|have) (?:we|you|they) (?:have|got)(?: here)? (?:on|about|for|in|from|by)\b|\bwhat (?:have|do) (?:we|you) (?:got|have)\W*$|\blist what\b"
    rf"|[:,?.–-]\s*(?:which|what) {_MANY}\W*$|[:;,–-]\s*{_MANY}\W*$|\b{_MANY},? (?:please|pls)\W*$"
    rf"|\b(?:which|how many|any|all|list|what) (?:ones )?of (?:them|these|those)\b(?! (?:two|three|four|data ?sets?|models|methods|steps|tasks|metrics|benchmarks|languages|questions|numbers)\b)|\b(?:list|name) (?:them|those|everything|all|whatever)\b|\blist (?:please|pls)\b|\ball that apply\b|\ball of (?:them|it)\W*(?:please|pls)?\W*$|[.?!,:;–-]\s*list(?: (?:them|all|please|pls))?\W*$"
    rf"|^\W*(?:who|where|which)\b.*\b(?:i need|give me|show me|all of them|every paper|list)\b"
    rf"|^\W*(?:and )?who (?:else )?(?:all )?(?:works?|tackles?|builds?|does|studies|uses|mentions?|writes?|names?|deals?|applies|investigates|addresses)\b|\bwho (?:builds|does|mentions|names|uses|writes|cites) (?:them|it|one)?\W*$"
    rf"|\b(?:is|are|was|were)\b.{{1,60}}\bin any (?:abstract|paper|title)s?\b|\b(?:named|mentioned|used|cited) by (?:any|some)(?:one|body)\b|(?:^|[.?!:;–-]\s+)who (?:\w+ ){{0,3}}(?:mentions?|names?|writes|says)\b"
    rf"|\bwhere (?:is|are|does|do) .{{1,80}}\b(?:mentioned|found|used|occurs?|appears?|named|come up|turn up)\b|\bwhere (?:the|this) (?:word|term|name|phrase)\b|\beverything (?:with|on|about|that|by)\b"
    rf"|\b(?:do|does|did) any {NOUNS_FOR_PAPERS} (?:here )?(?:mention|name)\b|^\W*mentions of\b|\bmentions,? but\b|\b(?:in|from) (?:whose|which|what) (?:abstract|paper)s?\b|\bwhose (?:abstract|paper|title)s?\b|\b(?:methods|works?|ideas|anything) anyone\b|\bwhat['’]?s there\W*$"
    rf"|^\W*(?:[\w-]+ ){{1,4}}papers\b(?! (?:say|do|are|is|was|were|have|differ|agree|compare|propose|show|find|use|claim))|^\W*paper titles\b|\b(?:anything|something|papers|works|articles|(?:any|which|what) (?:paper|article)) by [A-Z]|\b(?:what )?(?:did|has|have) (?-i:[A-ZÀ-Ž][\w’'-]+ [A-ZÀ-Ž][\w’'-]+) (?:write|written|publish|published|do|done)\b"
    rf"|^\W*(?:(?:is|are) there |do (?:you|we) have |got )?anything (?:here )?(?:on|about) (?!{_OF_A_PAPER})(?:[\w'’-]+ ?){{1,5}}\W*$|\b(?:whatever|any) {_MANY}\b|\b{_MANY} (?:where|in which|whose)\b|^\W*(?:some|most) {_MANY}\b.*\bwhich (?:do|are|have|of)\b|^\W*which ones\b|\b(?:does|do|did|has|have|is) any of (?:them|these|the papers)\b|\b(?:does|do|did|has|have) any {NOUNS_FOR_PAPERS}\b|(?:^|[.?!:;,–-] *)any {NOUNS_FOR_PAPERS}(?: at all)? (?:that|which|using|with|where|naming|citing|mentioning|on|about)\b|, {_MANY} (?:on|about) (?:that|this|it)\b|\bdo (?:we|you) have any\W*$|\bfind (?:me )?the (?:\w+ ){{1,4}}{_MANY}\b"
    rf"|(?:^|[.?!:;,–-]\s+)(?:and )?which (?:\w+ )?(?:benchmarks|data ?sets|methods|proposals|approaches|techniques|tools|libraries|algorithms) (?:(?:in )?here\b|(?:can|cut|reduce|need|handle|avoid|let|support|help|target|deal|address|tackle|focus|aim|require)\b)"
    rf"|\bhow many (?:authors|of (?:them|these|those|the)|there)\b.*\b{_MANY}\b|\b(?:are|have) there (?:any )?(?:other |more )?{_MANY}\b"
    rf"|^\W*(?:(?:is|are) there |do (?:you|we) have |(?:have you|you) got |show (?:me|us) |give (?:me|us) |find (?:me )?|get me |i need |i want )?(?:(?:some|any|all|the|all the|more|other) )*(?:(?:recent|new|existing|good) )?(?:{_SOME}|anything|something|everything|all|ones) {_ON}(?! {_OF_A_PAPER})"
    rf"|^\W*{_MANY} w/|(?:,|\s[-–]) ?any(?:thing|one)?\W*$|\bany(?:thing|one|body)?\b (?:here |in here |in this \w+ )?(?:that|who) \w+"
    rf"|\b(?:does|do|did|is) (?:any|some)(?:one|body)\b|\bwhat(?:['’]?s| is) (?:there|here|been done|been written)\b(?! (?:a|an|to)\b)"
    rf"|^\W*(?:and |so )?(?:who|which (?:authors|people|groups|teams))(?:['’]s|s| is| are| has| have| else)? (?:all )?(?!{_MADE_IT})(?-i:[a-z]+)\b(?! (?:by|it|this|that)\W*$)"
    rf"|\bwhich ones (?:qualify|count|are|do|does|should|use|have|can|would|fit|match|apply|deal|work|study|mention)\b|(?<!at )(?<!for )(?<!in )(?<!by )\bwhich ones\W*$|\bwhich of these (?:papers|works|abstracts|should|are|do|have)\b|\bwhich (?:of the )?(?:[\w-]+ ){{1,2}}{_MANY}\b|\b{_SOME} {_ON}.{{1,80}}\b(?:please|pls|plz|here)\W*$"
    rf"|^\W*(?:please |pls |hey,? |hi,? |can you |could you |show me |give me )*(?:the )?ones (?:that|which|with|on|about|from|by)\b|\b(?:list|show|give|find)(?: me| us| up)? (?:the |all |all the )?(?:ones|(?:[\w-]+ ){{0,3}}{_MANY})\b",
    re.IGNORECASE,
)
_ONES = rf"(?:everything|whatever|anything|stuff|things|ones|every (?:single |other )?(?:\w+ )?(?:one|entry|work|paper|abstract|document|submission)|literature|researche?s?|sources|refs|references|entries|documents|docs|contributions(?! of)|{_MANY})"
_LIST_TOO = re.compile(
    rf"^\W*(?:(?:please|pls|ok|okay|now|so|hey|hi|can you|could you|would you|and|also)[ ,]+)*(?:show|list|give|get|bring|provide|pull up|gather|collect|find|identify|retrieve|search(?: for)?|scan(?: [\w-]+){{0,2}} for|point(?: me| us)? (?:to|out|at)|filter(?: down)? to|enumerate|name|let(?:['’]s| me| us) see)"
    rf"(?: (?:me|us|for me|with))*(?: [\w-]+){{0,4}}? {_ONES}\b|^\W*(?:please )?(?:give|show|get|make|build)(?: me| us)? (?:a |the )?(?:complete |full |whole |reading )*(?:list|set|overview) (?:of|on|for|about)\b"
    rf"|^\W*(?:search|scan)\b.{{1,30}}\bfor\b|\b(?:i|we)(?:['’]m|['’]re|['’]d| am| are| would)? (?:only )?(?:need|want|after|looking for|(?:be )?interested in|like|love|be (?:grateful|happy) for)(?: to (?:see|know|have|read|get))?(?: [\w-]+){{0,4}}? {_ONES}\b"
    rf"|\b(?:is|are|was|were) there (?:(?:any|some|a few|several|more than one|other|many|also|already) )+(?:{_ONES}|papers?|authors|people|on|about|that|who)\b(?! they\b)|\b(?:is|are) there (?:{_ONES}|(?:any )?literature)\b|\b(?:covered|addressed|discussed|studied|treated|tackled) (?:by|in) any\b"
    rf"|^\W*(?:and |are there |is there )?any (?:other |others|new |recent |more |theoretical |empirical )*(?:[\w-]+ ){{0,2}}?(?:on|about|re|that|who|being|from) (?!(?:it|this|that|them|these|those|its|the (?:paper|method|model|authors?))\b).{{5,}}|^\W*any mentions? of\b|^\W*any(?:one|body|1) (?:(?:else|here) )?\w+ing\b"
    rf"|^\W*anything (?:(?:new|at all|else|here|in here|recent|interesting) )*(?:on|about|re|from|involving|in the area) (?!{_OF_A_PAPER})\w"
    rf"|\b(?:has|have) (?:any|some)(?:one|body) (?:here|in (?:this|the|here|our) ?\w*)\b|\b(?:has|have) any of the (?:authors|papers)\b|\bdoes anything (?:in )?here\b"
    rf"|^\W*(?:and )?how many (?:of (?:them|these|those) )?(?:deal|use|work|focus|mention|study|address|propose|introduce|report|release|apply|are about|look|treat|concern)\b|^\W*(?:so |and |out of these,? )*which (?:contributions|entries|ones (?:actually |really |also )?[a-z]+)\b(?! (?:of|did|do|does|was|were)\b)(?!.*\b(?:they|it)\b)"
    rf"|\bwhich (?:are they|have been)\b|^\W*which (?:ppl|people|authors|groups)\b(?! of)|\bwhat else is there\b|\bwhat (?:other |more )?(?:work|stuff|literature|papers|research) (?:exists?|is there|are there|do we have|on)\b|\bwhat(?:['’]?s| is) (?:available|in here|in there|out there|in this \w+)\b|\bwhat have (?:people|others|authors)\b|\bwhat should i (?:cite|read)\b"
    rf"|, ?(?:all|list (?:them|em|all)|everything|anything like (?:that|this))(?:,? (?:pls|please|plz))?\W*$|[?.] list (?:em|them)\W*$|\bany papers?\W*$|^\W*(?:ok |okay |now |and |all |only )*(?:all )?the (?:[\w-]+ ){{0,4}}ones(?: (?:about|on|with|that|from|in))?\W?|^\W*(?:everything|things|stuff|all) (?:re|about|on|with|in)\b|^\W*every (?:single )?one (?:about|on|with|that)\b|^\W*need:? (?:all )?(?:papers|work|refs)\b|^\W*authors (?:working|writing)\b|\bother (?:authors|papers|works|people) (?:here )?who\b",
    re.IGNORECASE,
)
_OF_CONTENT = re.compile(
    rf"\b(?:in|of|from|behind) (?:that|this|the|its) (?:(?!which|that|who|where|papers|works)[\w-]+ ){{0,4}}(?:paper|study|article|survey|review|meta-analysis)\b|\bin that one\b|\b(?:how many|which|what) {_MANY} (?:did|do|does|have|has|are|were) (?:they|it|he|she)\b|^\W*does it\b|"
    rf"^\W*(?:there are |the |these )?(?:two|three|four) (?:[\w-]+ ){{0,3}}{_MANY}\b|\bwhich of (?:these|them|the two)\b.{{1,80}}\b(?:one|paper|study),? or (?:the|that)\b|^\W*(?:is there|are there|got|anything).{{10,200}}\? (?:and )?(?:how|what|why|where|when|does|do|is|are)\b.{{8,}}|"
    rf"\b(?:what|how) (?:do|does|did|can|should) (?:(?:the|these|those|all|both|any|two|other) )+{NOUNS_FOR_PAPERS}\b|\b(?:the|these|those|both|two|three) (?:two |three )?{_MANY} (?:say|agree|differ|disagree|report|claim|conclude|compare)\b",
    re.IGNORECASE,
)
_COMPARES = re.compile(
    r"\b(?:vs\.?|versus|compared? (?:to|with)|compare|comparison|contrast(?:ed)?|differs?|differences?|in common|respectively|each other|similarit\w+|distinguish\w*)\b"
    r"|\b(?:what|how|where|which|why)\b.{0,120}\b(?:of each|in each|each (?:of|one|case|do|does|use|add)|for each|do(?:es)? each|is each|each (?:\w+ ){0,3}(?:for|to|at|from|in|about|do|use|add|see|get)|both(?! (?:\w+ ){1,4}and\b))\b"
    r"|\b(?:in (?:the )?one and (?:in )?(?:the )?other|and what does the other|what the other|the other (?:one|paper)|both\b(?! (?:\w+ ){1,4}and\b)|one (?:is|paper|uses?|learns?|ties|does)\b.{0,160}\b(?:another|the other|other one|one)\b)"
    r"|^\W*two (?:\w+ ){0,4}(?:papers|works|ways|studies|methods|approaches|models)\b|^\W*(?:which|who)\b.{0,60}\b(?:more|better|larger|bigger|faster|fewer|less|most)\b.{0,60}[:,].{0,80}\bor\b",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"(?<=[?？])\s+(?=[^\s(])"
    r"|[,;]?\s+(?:and|plus|also)\s+(?:(?:also|separately|then|secondly)[, ]+)?(?=(?:how|what|which|who|why|where|when|whose|does|do|did|is|are|was|were|can|to what|by (?:what|which|how)|on (?:what|which)|in (?:what|which)|with (?:what|which)|from (?:what|which)|for (?:what|which)|at (?:what|which)|over (?:what|which|how))\b)"
    r"|\.\s+(?=(?:and |also |separately,? |then )*(?:how|what|which|who|why|where|when|does|do|is|are)\b)|;\s+(?=\S)",
    re.IGNORECASE,
)
_AFTER_SAYING = re.compile(
    r"(?:(?<=[.!…])|\s*[:–—]|\s-(?=\s))\s+(?=(?:(?:and|so|but|ok|also|now)[, ]+)?(?:how|what|which|who|why|where|when|whose|does|do|did|is|are|was|were|can|could|would|has|have|(?:on|in|to|by|with|for|from|at) (?:what|which|how)|whats|hows)\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\b(?:how|what|which|who|why|where|when|whose|does|do|did|is|are|was|were|can|whats|hows|whos)\b|[?？]", re.IGNORECASE)
_ASKS_FIRST = re.compile(r"\W*(?:how|what|which|who|why|where|when|whose|does|do|did|is|are|was|were|can|could|would|has|have)\b", re.IGNORECASE)
_CLAIM = 6
"""Words from which a text without a question's words is a claim."""
_QUESTION_WORD = re.compile(r"\b(?:how|what|which|who|why|where|when|whose)\b", re.IGNORECASE)
_TELLING = 2
"""Words of meaning from which a question can be looked for."""
_FIRST_THAT = re.compile(r"^.*\bthen:? (?=(?:tell|say|answer|explain|list|give)\b)", re.IGNORECASE)
_ASKS_FOR = re.compile(rf"{_ASKS.pattern}|\b(?:compare|contrast|tell|describe|explain|summari[sz]e|name|list|give|spell)\b", re.IGNORECASE)


_RECORD = {
    "authors": re.compile(
        r"\bhow many (?:(?:co-?)?authors (?:does|did|has|have|wrote|are on)|people wrote)\b|\bwho (?:wrote|authored|published|are the (?:\w+ )?authors|is the (?:first |last |lead |senior )?author|is behind|came up with|made|created|built)\b|(?<!do )(?<!did )(?<!does )\b(?:the )?(?<!do the )(?<!did the )(?<!does the )authors? (?:of|behind) (?!.*\b(?:say|claim|find|propose|report|use)\b)|\bwritten by (?:who|whom)\b|\bby whom\b",
        re.IGNORECASE,
    ),
    "year": re.compile(r"\b(?:when|(?:in )?(?:which|what) year) (?:was|were|did|is) .{1,80}\b(?:published|appear|come out|written|released|accepted)\b|\bhow old is\b", re.IGNORECASE),
    "venue": re.compile(r"\b(?:where|(?:at|in) (?:which|what) (?:venue|conference|journal)|(?:which|what) (?:venue|conference|journal)) (?:was|were|did|is) .{0,80}\b(?:published|appear|presented|accepted|come out)\b", re.IGNORECASE),
}


def is_small_talk(question: str) -> bool:
    """A greeting, thanks, or a question about the assistant: nothing to search for."""
    return bool(_SMALL_TALK.match(question.strip()))


def doubts(question: str) -> bool:
    """Whether it is a word about the last answer, and asks nothing of the papers: "are you sure?", "shorter please"."""
    return bool(_DOUBTS.match(question.strip()))


def asks_of_library(question: str) -> bool:
    """Whether it asks what the library holds, on the whole."""
    return bool(_OF_LIBRARY.match(question.strip()))


def asks_for_similar(question: str) -> bool:
    """Whether papers like the one spoken of are asked for."""
    return bool(_SIMILAR.search(question))


def needs_context(question: str) -> bool:
    """Whether the question points back to earlier turns: it begins as a continuation, or is short and holds a pronoun."""
    if changes_subject(question):
        return False
    words = re.findall(r"\w+", question)
    return bool(_CONTINUES.match(question)) or len(words) <= 14 and bool(_POINTS_BACK.search(question) or _ORDINAL.search(question) or _RETURNS.search(question))


def continues(question: str) -> bool:
    """Whether it begins or ends as only a continuation does: "and its limitations?"."""
    return bool(_CONTINUES.match(question))


def points_back(question: str) -> bool:
    """Whether a word of it stands for something said before: "its", "the method", "they". What is said before the question itself
    may be what they stand for."""
    return bool(_POINTS_BACK.search(question)) and asked_after_saying(question) == question


def asks_only(question: str) -> bool:
    """Whether it is hardly more than a question word: "up to how much better?", "with which kind of loss?"."""
    return bool(re.search(_QUESTION_WORD, question)) and len(set(terms(question))) <= _TELLING


def changes_subject(question: str) -> bool:
    """Whether the question says that it leaves what was spoken of."""
    return bool(_NEW_SUBJECT.search(question))


def asks_for_list(question: str) -> bool:
    """Whether every paper that meets a criterion is asked for, or their number."""
    return bool(_LIST.search(question) or _LIST_TOO.search(question)) and not _OF_CONTENT.search(question)


def names_papers(question: str) -> bool:
    """Whether it says a word for papers, as many as there are: "works", "abstracts"."""
    return bool(re.search(rf"\b{_MANY}\b", question, re.IGNORECASE))


def asks_of_record(question: str) -> str:
    """"authors", "year" or "venue" if the question asks who wrote a paper, when or where it appeared; else empty."""
    return next((what for what, pattern in _RECORD.items() if pattern.search(question)), "")


def compares(question: str) -> bool:
    """Whether two or more papers are to be held against each other."""
    return bool(_COMPARES.search(question))


def asserts(text: str) -> bool:
    """Whether a text says something rather than asks: a claim to be checked, a title. Short ones ask."""
    return len(text.split()) >= _CLAIM and not _ASKS_FIRST.match(text) and not _QUESTION_WORD.search(text) and not re.search(r"[?？]", text) and not _ASKS_FOR.match(text.strip())


def asking(question: str) -> str:
    """The sentences of it that ask: whoever pastes more than a question may say anything in the rest."""
    return " ".join(_FIRST_THAT.sub("", part) for part in re.split(r"(?<=[.?!\n])\s+", question) if _ASKS_FOR.search(part))


def asked_after_saying(question: str) -> str:
    """What a question asks behind what it first says ("There's that work on moving people in clips. How does it do that?"); the question
    itself if it says nothing first, or asks nothing that could be looked for without that."""
    for place in _AFTER_SAYING.finditer(question):
        if re.match(_ASKS_FIRST, question) or "?" in question[: place.start()]:
            break
        if len(set(terms(question[place.end() :]))) >= _TELLING:
            return question[place.end() :]
    return question


def parts(question: str) -> list[str]:
    """The questions in a question, in order: "What is A, and how many B has it?" is two. One if it can't be divided well."""
    found = [part.strip() for part in _BREAK.split(question) if part and part.strip()]
    merged: list[str] = []
    for part in found:
        if merged and (len(re.findall(r"\w+", part)) < 3 or not _ASKS.search(merged[-1])):
            merged[-1] = f"{merged[-1]} {part}"
        else:
            merged.append(part)
    if len(merged) > 1 and not _ASKS.search(merged[-1]):
        last = merged.pop()
        merged[-1] = f"{merged[-1]} {last}"
    return merged if len(merged) <= MOST_PARTS else [question.strip()]


def is_foreign(question: str) -> bool:
    """Whether the question is not in English: written in another script for the most part, or in words that only other languages
    join sentences with."""
    letters = [c for c in question if c.isalpha()]
    if letters and sum(not unicodedata.name(c, "").startswith(("LATIN", "GREEK")) for c in letters) > 0.3 * len(letters):
        return True
    if "¿" in question:
        return True
    words = re.findall(r"[^\W\d_]+", question.lower())
    return sum(word in _OTHER_TONGUES for word in words) >= 2 and sum(word in _ENGLISH for word in words) <= 1


_OTHER_TONGUES = frozenset(
    "der das und ist wie viele welche welcher welches wird werden nicht mit von für auf dem den ein eine haben hat wurde warum kann zur zum über bei im"
    " le la les des est une dans pour quel quelle quels quelles comment combien sur avec que qui ce cette sont pourquoi et du aux fait"
    " el los las una es en para con por qué cuál cuáles cuántos cuántas cómo que del se como sobre cuantos cual"
    " o os um uma é não com quais qual quantos como dos da por são ao"
    " il gli un sono quali quanti quante perché della nel che di è come"
    " het een van hoeveel welke zijn niet wordt met w jest ile jakie czy na jak do jakich".split()
)
_ENGLISH = frozenset("the of and is are what which how does do in on for to with that it its was were who why when where by from".split())
