"""Words that decide what a sentence is about: what may be a name, an allergen, a job, a wish.

The lists are short on purpose. A word that is missing from one costs a note that could have been
taken; a word too many in one costs a note that is wrong.
"""

import re


def words_of(text: str) -> frozenset[str]:
    """The words of a list that is written as running text; `_` stands for a space."""
    return frozenset(one.replace("_", " ") for one in text.split())


MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
)
DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"

RELATIONS = (
    "wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?|spouse|mother|mum|mom|father|dad|sister"
    "|brother|daughter|son|twin|aunt|uncle|cousin|niece|nephew|grandmother|grandfather|grandma"
    "|grandpa|gran|granny|nan|grandson|granddaughter|godmother|godfather|goddaughter|godson"
    "|stepmother|stepfather|stepson|stepdaughter|stepsister|stepbrother|half-sister|half-brother"
    "|(?:mother|father|sister|brother|son|daughter)-in-law|ex-wife|ex-husband|kid|child|baby"
    "|best friend|friend|boss|line manager|manager|team lead|supervisor|mentor|tutor|professor"
    "|coach|trainer|student|apprentice|intern|colleague|co-worker|coworker|teammate|deputy|stand-in"
    "|neighbou?r|teacher|doctor|gp|dentist|therapist|physio|vet|lawyer|accountant|hairdresser"
    "|midwife|nanny|babysitter|childminder|landlord|landlady|tenant|assistant|business partner"
    "|roommate|flatmate|housemate|labmate|classmate|dog|cat|horse|rabbit|hamster|parrot|puppy"
)
# Of these a person has one at a time.
ONLY_ONE = words_of(
    "wife husband partner girlfriend boyfriend fiancé fiancée spouse mother mum mom father dad boss"
    " line_manager manager team_lead supervisor gp dentist therapist landlord landlady"
    " mother-in-law father-in-law"
)
FIELDS = (
    "piano|violin|cello|guitar|singing|music|maths?|english|german|french|spanish|yoga|swimming"
    "|driving|running|dance|art|science|history|thesis|phd|study|project|office|next-door|upstairs"
    "|downstairs|family|tax|training|gym|school|personal|climbing|tennis|chess|band|walking"
    "|sparring"
)
MANNERS = "older|younger|elder|little|big|twin|new|eldest|oldest|youngest|middle|old|former|only"

# Words that begin a sentence, or name something, and are no people.
NO_PEOPLE = words_of(
    """the this that these those it he she they we you i there here what who which one everyone
    someone nobody noone everybody anyone anybody no none and but so then now today tomorrow
    yesterday tonight monday tuesday wednesday thursday friday saturday sunday january february
    march april june july august september october november december weekend noon midnight
    morning evening winter summer spring autumn christmas easter my our your his her their its a
    an some any every each all both another such if when while plan option version everything
    nothing something coffee tea chocolate wine beer cake sugar caffeine bread cheese pizza food
    water milk sleep time pain silence experience life love hope fear failure luck rain snow
    weather music work money patience curiosity hunger stress chaos fate karma nature history
    science sport football yoga exercise boredom laziness gravity entropy google netflix youtube
    spotify chatgpt siri alexa wikipedia twitter facebook instagram tiktok amazon tesla apple
    microsoft ikea excel outlook slack teams jira vim neovim emacs zoom gmail notion figma word
    git github gitlab discord confluence trello jenkins docker kubernetes terraform ansible
    gradle maven pytest linux windows android firefox chrome safari python java javascript
    typescript rust redis valkey kafka nats rabbitmq postgres postgresql mysql mongodb sqlite
    nginx grafana prometheus airflow celery cron systemd bash webpack ruff mypy pip poetry npm
    yarn homebrew debian ubuntu ci cd vpn wifi dns login signal telegram whatsapp photoshop
    powerpoint thunderbird mastodon buildkite woodpecker vs ios iphone mac macos proton bluesky
    arch fedora obsidian todoist edge brave kindle bitwarden duolingo claude copilot terminal
    lunch dinner breakfast email mail phone cash paypal midday doubt panic insomnia anger rage
    guilt shame joy grief debt death traffic gossip habit logic reason justice truth beauty
    darkness denial procrastination either anything two three four five six seven eight nine ten
    eleven twelve half autocorrect travis planka asana miro linear vscode dark light mode"""
)
FICTION = words_of(
    "mud legion nobody sherlock ahab ishmael dracula batman bond romeo frankenstein gandalf yoda "
    "murphy santa"
)
COUNTRIES = words_of(
    """spain portugal france germany italy england scotland wales ireland britain austria
    switzerland belgium holland netherlands denmark sweden norway finland iceland poland hungary
    romania bulgaria greece turkey ukraine russia croatia serbia slovenia slovakia czechia
    estonia latvia lithuania morocco egypt nigeria ghana kenya senegal india pakistan china japan
    korea taiwan thailand vietnam indonesia australia canada america usa uk mexico brazil
    argentina chile uruguay colombia peru ecuador europe asia africa arsenal liverpool
    barcelona madrid benfica sporting juventus inter bayern dortmund ajax celtic rangers
    everton leeds manchester porto napoli roma ferrari mclaren verstappen """
)
# `My wife is Italian` names nobody.
ORIGINS = re.compile(
    r"(?:\w+(?:ish|ese)|german|italian|french|dutch|greek|swiss|czech|austrian|belgian|russian"
    r"|ukrainian|romanian|bulgarian|hungarian|croatian|serbian|estonian|latvian|lithuanian"
    r"|norwegian|american|canadian|mexican|brazilian|argentinian|chilean|colombian|peruvian"
    r"|australian|indian|korean|indonesian|egyptian|moroccan|nigerian|kenyan|african|european|asian"
    r"|icelandic|thai|welsh|catalan|basque|persian|deaf|black|white|mormon|quaker|catholic"
    r"|protestant|muslim|hindu|buddhist|christian|orthodox|aries|taurus|gemini|leo|virgo|libra"
    r"|scorpio|sagittarius|capricorn|aquarius|pisces|god|satan|batman|superman|yoda|napoleon"
    r"|gandalf)",
    re.IGNORECASE,
)
# People also live in their mail, and move to other tools and teams.
NO_PLACES = words_of(
    """hope purgatory hell limbo heaven paradise narnia mordor exile chaos mode airplane flight
    denial fear sin peace pyjamas outlook jeans marketing sales support product engineering
    finance design platform research operations legal hr it qa team plan part chapter level phase
    step stage section page room floor desk seat row table office building lane column tab"""
)

ALLERGENS = (
    "(?:pea|hazel|wal|cashew |brazil |pine |tree |macadamia )?nuts?|cashews?|almonds?|pistachios?"
    "|pecans?|sesame|soya?|soy beans?|lupins?|mustard|celery|celeriac|gluten|wheat|rye|barley|milk"
    "|lactose|dairy|cheese|eggs?|egg whites?|fish|shellfish|seafood|prawns?|shrimps?|crab|lobster"
    "|mussels?|oysters?|squid|kiwis?|kiwi ?fruit|strawberr(?:y|ies)|apples?|peach(?:es)?|cherr(?:y"
    "|ies)|bananas?|mangos?|mangoes|pineapples?|citrus|citrus fruits?|oranges?|lemons?"
    "|tomato(?:es)?|carrots?|avocados?|melons?|chickpeas?|lentils?|peas|beans|garlic|onions?"
    "|mushrooms?|cinnamon|coriander|sulphites?|sulfites?|penicillin|amoxicillin|antibiotics?"
    "|aspirin|ibuprofen|paracetamol|codeine|morphine|sulfa|sulfa drugs|iodine|contrast agents?"
    "|latex|nickel|cobalt|wool|perfumes?|fragrances?|plasters?|pollen|grass|grass(?:es)?|birch"
    "|hazel|ragweed|mugwort|hay|dust|(?:house )?dust mites?|mites?|mou?lds?|feathers?|cats?|dogs?"
    "|horses?|rabbits?|guinea pigs?|hamsters?|animal hair|fur|bees?|wasps?|hornets?"
    "|mosquito(?:e?s)?|insect bites?|local an(?:a)?esthetics?"
)
_ALLERGEN_ENDS = "stings?|bites?|venom|hair|fur|dander|pollen|proteins?|oil|milk|dust|seeds?|flour"
ALLERGY = (
    rf"(?:(?:all )?(?:raw |fresh |cow's |goat's |tree )?(?:{ALLERGENS})(?: (?:{_ALLERGEN_ENDS}))?)"
)

JOB = re.compile(
    r"(?:\w*(?:nurse|cook|chef|clerk|vet|midwife|coach|guide|judge|pilot|lead|analyst|intern"
    r"|apprentice|mechanic|medic|secretary|dev|sysadmin|admin|architect|scientist|musician|physio"
    r"|au pair|attorney|postman|fireman|foreman|chairman|hand|keeper|smith|wright|monk|priest|nanny"
    r"|head|director|principal|solicitor|barista|copilot|consul|herd)|\w{2,}(?:er|or|ist|ian|ant"
    r"|ent|eur|ect|eer|woman))",
    re.IGNORECASE,
)
NO_JOBS = words_of(
    "whisperer server computer printer letter number order matter corner paper offer patient "
    "moment comment present client saint accident document filter buffer container parser router "
    "doer servant slave superhero wizard scapegoat hamster dinner prisoner reader loser dreamer "
    "mother father brother sister"
)

# What comes first in a wish is a verb; these come first in a sigh.
NO_VERBS = words_of(
    """the a an this that these those it he she they we you i me my our your his her their its
    the same mind again ever good nice fun happy glad sad great bad late early busy hungry tired
    sunny raining snowing boring wrong right welcome ready sure true worth one two three half all
    both such what who where why how when if not only just so too very more less most some any no
    nothing something somebody someone nobody been had seen heard done gone got knew thought said
    felt met made took gave came went found kept left lost ran sat slept spoke stood won wrote
    ate drank flew grew wore held paid bought caught taught brought built sent spent drove broke
    chose trust was were is are am has does did would could should can will might at in on by for
    from to with without of off over under between about like love hate know think want need feel
    see hear have get forget forgot lose wonder seem look happen learn wish hope believe mean
    work rain trouble chaos drama stress money politics excuses problems meetings people friday
    monday"""
)
VERBS = words_of(
    """show use write put add ask tell call send reply answer include keep check run start begin
    end finish give make buy order book remind wake promise commit push force-push merge rebase
    squash deploy release delete remove change edit touch mention quote cite link list sort
    format round translate speak talk address greet sign cc copy forward save store log record
    note test lint review explain summarise summarize spell capitalise mark label tag name count
    convert confirm double-check verify validate warn notify let leave close open lock turn
    switch set schedule plan move invite share post publish print draw cook serve pack bring take
    pick choose avoid skip ignore assume guess rely interrupt disturb suggest recommend propose
    offer apologise apologize thank say read wash feed clean wear pay charge refund sell measure
    weigh bake attach append prefix indent comment document back prepare respond contact phone
    ring text message email mail ping assign close reopen archive upload download install upgrade
    update pin restart stop shut approve accept reject decline estimate report track measure
    provide present state specify describe display render hide highlight underline bold number
    group split combine join wrap quote escape encrypt hash mask redact anonymise schedule block
    reserve cancel postpone do go treat handle refer pronounce spell repeat reveal disclose shout
    yell wait swap cut chop peel freeze defrost heat reheat knock hang fold iron separate sweep
    dust vacuum charge plug unplug inform file draft date stamp scan type route flag rename
    rotate bill invoice issue consult involve meet mix insert require expect allow prefer"""
)
PROVERBS = re.compile(
    r"(?:look on the bright|look a gift|give up|say never|say die|(?:change|touch) a (?:running"
    r"|winning)|judge a book|trust (?:a|anyone|anybody|nobody|strangers)|look back|stop (?:learning"
    r"|dreaming)|do things by half|put off until|meet your heroes|let (?:me|them|it) (?:down|go"
    r"|get)|wear (?:brown|white)|take (?:no|it personally|things)|do that|do it|go full|make my day"
    r"|leave home|run with scissors|tell me never|ask an? (?!question)|bring a knife|say no"
    r"|wake a sleeping|turn up|end well|end up|end in|put two and two|read the (?:room|small print)"
    r"|poke the|feed the trolls|follow (?:the money|your)|skip leg|bite the|carry a towel"
    r"|cross the streams|burn your|count your|cry over|kick a|argue with|underestimate|wake the"
    r"|blame|back the|mix business|bring an?|let an?|split the party|leave an? (?!comment|note"
    r"|message)|make me (?:laugh|smile|cry)|guess (?:right|wrong)|start (?:late|early)|go (?:wrong"
    r"|well|there))\b",
    re.IGNORECASE,
)
DETERMINERS = words_of(
    "the a an my our your his her their this that these those me us it them him any all every each"
    " both two three no more less enough at_least"
)

# What somebody can lead, run or own, and what somebody works on.
CHARGES = words_of(
    """team teams crew department desk project projects squad unit office guild division
    committee board workshop course shop store café cafe bakery restaurant clinic ward lab
    laboratory warehouse library school choir orchestra club band society association branch
    store bar pub support payments payment billing finance marketing sales operations ops
    infrastructure migration rollout release releases roadmap budget platform product service
    services repository repo package module website site newsletter account accounts programme
    program permits logistics catering engineering design security research legal hr hiring
    recruiting training procurement analytics qa documentation docs communications campaign
    festival stage market stall nursery kindergarten gym studio farm garden allotment hotel
    hostel company firm agency foundation charity council faculty chair institute archive museum
    gallery theatre group helpdesk frontend backend app api gateway importer exporter library
    client integration rewrite redesign onboarding sound lights lighting costumes set excavation
    dig survey study trial restoration renovation construction expedition tour tours class
    classes seminar cohort network cooperative coop parish scouts patrol brigade academy floor
    housekeeping maintenance quality compliance safety purchasing payroll collection catalogue
    exhibition pilot initiative force rota schedule fleet depot plant factory shift volunteers
    stewards ticketing registration reception kitchen rehearsals editorial desk section chapter
    community forum wiki"""
)
NO_CHARGES = re.compile(
    r"\b(?:the group\b(?! of)|by (?:an?|one|two|three|\d)|points?|goals?|laps?|championship"
    r"|tournament|world|way|table|league|standings?|race|field|pack|polls?|score|match|charts?"
    r"|delay|outage|failure|crash|mess|bug|error|leak|chaos|noise|damage|house|household|show"
    r"|family|marathon|everything|nothing|this|that|it|us|me|himself|herself|weather|life"
    r"|happiness)\b",
    re.IGNORECASE,
)
DUTIES = words_of(
    """keys tickets invoices orders deliveries translations tests testing cleaning parking
    contracts bookings press guests stalls sound backups permissions inventory stock rooms
    scheduling bins heating bookkeeping accounting minutes snacks_budget first_aid food drinks
    decoration posters"""
)
WORKPLACES = words_of(
    """hospital clinic ward surgery pharmacy bank school nursery kindergarten university college
    institute library museum archive theatre opera office agency council ministry department
    station airport port harbour depot warehouse factory plant mill mine farm garden zoo shelter
    hotel hostel bar pub café cafe restaurant bakery kitchen shop store supermarket market
    bookshop garage workshop studio lab laboratory newspaper magazine publisher broadcaster
    startup company firm foundation charity embassy court prison police brewery winery dairy
    shipyard practice city town county state government centre center consultancy desk railway
    post"""
)
# Things of a system that may be named with an article: `the cron job`.
PARTS = words_of(
    """job jobs script scripts queue library importer exporter database server servers service
    services framework pipeline scheduler parser spreadsheet spreadsheets board wiki list
    template templates process system tool tools provider supplier vendor bank insurer insurance
    contract model format schema api backup backups cluster cache proxy broker client build
    builds plugin editor linter formatter compiler tracker calendar newsletter form forms mailing
    hosting host registry monolith protocol header headers file files branch repository repo
    ticketing platform monitor alerts ticket tickets receipts invoices password passwords machine
    machines fax register dashboard backend frontend app apps licence license software hardware
    lender carrier printer"""
)
FOOD = words_of(
    """milk butter oil sugar salt flour egg eggs bread rice pasta meat chicken fish pork beef
    cream cheese lunch dinner breakfast supper pizza sushi coffee tea wine beer decaf sleep
    sleeping cake beers drinks drink party nap biscuits ice rain hail snow sun fog wind hope
    patience talking shouting words summer winter bulb bulbs battery batteries tyre tyres lamp
    light fuse sofa couch bed chair kitchen balcony bathroom lift stairs plates cups towel
    curtains carpet lid door window key lock tap shower toilet sink fridge freezer oven kettle
    toaster socks shoes jacket shorts trousers coat boots sandals bus train tram bike bikes car
    ferry plane foot plan panic english german french spanish portuguese italian polish dutch red
    white black green blue left forwards backwards goalkeeper striker coach"""
)
# Done once, and forgotten by tomorrow.
PASTIMES = re.compile(
    r"(?:not to )?(?:eat|drink|watch|go(?! with\b| live\b| ahead with| remote| open)|walk|sleep"
    r"|wait|stay (?:home|in\b|at|here|out|up|longer|another|the night|a (?:bit|while)|for)|grab"
    r"|laugh|rest|have (?:lunch|dinner|breakfast|some|fun|it|a (?:drink|beer|coffee|break|nap|party"
    r"|look|chat|rest|barbecue))|take (?:a (?:break|nap|walk|day|rest|taxi|cab|bus|look|photo)"
    r"|the (?:bus|train|tram|stairs|day|scenic|dog|kids|afternoon|car|bike|boat|ferry|long))"
    r"|skip (?:lunch|dinner|the meeting|breakfast|dessert|the gym|school|it|this|that)|leave (?:it"
    r"|early|now|at|the (?:house|party|dishes|kids)|him|her|them|after|before)|get (?:a (?:pizza"
    r"|drink|coffee|beer|dog|taxi)|some|ice|up|drunk|going|home|out|lost|takeaway)|celebrate|dance"
    r"|sing|nap|drive|ignore|pretend|blame|forget|disagree|meet(?! every| weekly| once)"
    r"|have(?! (?:two|three|one|no|all|every|each|a (?:weekly|daily|monthly|single|second"
    r"|backup))\b)|rewatch|never speak|give .* a name|make (?:pancakes|cake|soup|pasta|pizza|tea"
    r"|coffee|a (?:cake|fire|night|day|song|joke))|talk|sit|see|think|look|try (?:again|and|the|a)"
    r"|call it (?:a|quits|even)|call (?:him|her|them|you|mum|the)|let (?:it|him|her|them|the"
    r"|(?-i:[A-Z])\w+)|call (?-i:[A-Z])\w+[ .]*$|keep \w+ing|order|cook|bake|play|visit|hide"
    r"|run away|give up|give it|be|ask|bring|finish (?:early|the (?:wine|bottle|cake|pizza|film))"
    r"|relax|fly|travel|hug|cuddle|discuss|panic|hope|pray|come|turn (?:back|around)|say|tell"
    r"|do (?:it|that|nothing)|move on|wing it|buy (?:ice|a beer|pizza)|check (?:again|back)|share a"
    r"|split (?:a|the bill)|toss|flip|race|swim|hike|climb|stop here|stop there)\b",
    re.IGNORECASE,
)
# What a rule says: `invoices go out on the 5th`.
NORM = re.compile(
    r"\b(?:must|should|shall|will|needs?|has to|have to|may|cannot|can't|gets?|go|goes|stays?"
    r"|keeps?|do not|does not|(?:is|are) (?:not )?(?:allowed|closed|required|due|mandatory|optional"
    r"|off|out|set|kept|sent|paid|written|made|done|stored|free|capped|limited)|(?:on|by|every"
    r"|per) \w+$)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w'-]+")


def words_in(text: str) -> list[str]:
    """The words of a text in lower case; one that is empty if there are none."""
    return [one.lower() for one in _WORD.findall(text)] or [""]
