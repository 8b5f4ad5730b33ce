"""Plain lists of words: towns, everyday things, what people have favourites of, words of work."""

import re

from mnemolog.distillers.rules.lexicon import words_of

# The larger towns that people say they move to; a smaller one needs other signs of a move.
TOWNS = words_of(
    """aachen aarhus aberdeen accra adelaide alicante amman amsterdam ankara antwerp athens
    atlanta auckland austin baltimore bangalore bangkok barcelona bari basel bath beijing beirut
    belfast belgrade bergen berlin bern bilbao birmingham bochum bogotá bogota bologna bombay
    bonn bordeaux boston bradford braga bratislava bremen brest brighton brisbane bristol brno
    bruges brussels bucharest budapest buenos_aires burgos bydgoszcz cádiz cadiz cairo calgary
    cambridge canberra canterbury cape_town cardiff casablanca catania cebu charlotte chemnitz
    chennai chester chicago cleveland cluj coimbra cologne columbus copenhagen córdoba cordoba
    cork coventry dallas damascus darmstadt dakar delft delhi denver derby detroit dijon doha
    dortmund dresden dubai dublin dundee durban durham düsseldorf edinburgh eindhoven erfurt
    essen évora exeter faro ferrara florence frankfurt freiburg fukuoka galway gdańsk gdansk
    gdynia geneva genoa ghent girona glasgow gothenburg göteborg granada graz grenoble groningen
    guadalajara guimarães haarlem haifa halifax halle hamburg hamilton hannover hanover hanoi
    heidelberg helsinki hong_kong honolulu houston hull iași innsbruck inverness istanbul izmir
    jakarta jena jerusalem johannesburg jyväskylä karachi karlsruhe kassel katowice kaunas kiel
    kigali kobe koblenz kraków krakow kyiv kyoto lagos lancaster larnaca lausanne leeds leicester
    leiden leipzig leuven lille lima limerick limoges lincoln linköping linz lisbon lisboa
    liverpool ljubljana łódź london los_angeles louvain lübeck lublin lucerne lugano lund
    luxembourg lviv lyon maastricht madrid magdeburg mainz málaga malaga malmö manchester manila
    mannheim maribor marseille melbourne memphis mexico_city miami milan minneapolis minsk modena
    montevideo montpellier montreal moscow mumbai munich münster murcia nairobi nantes naples
    nashville newcastle new_york nice nicosia nijmegen norwich nottingham novi_sad nuremberg
    nürnberg odense odessa oldenburg oporto orlando orléans oslo osaka ostrava ottawa oulu oviedo
    oxford padua palermo palma pamplona panama paris parma perth perugia philadelphia phoenix
    pisa pittsburgh plovdiv plymouth plzeň portland porto portsmouth potsdam poznań poznan prague
    pristina quebec quito rabat reading reims rennes reykjavik riga rijeka rome rostock rotterdam
    rouen saarbrücken sacramento salamanca salzburg san_diego san_francisco santander santiago
    são_paulo sao_paulo sarajevo seattle segovia seoul seville setúbal shanghai sheffield siena
    singapore skopje sofia southampton split stavanger stirling stockholm strasbourg stuttgart
    swansea sydney szczecin szeged taipei tallinn tampere tarragona tartu tbilisi thessaloniki
    tokyo tromsø toledo toronto toruń toulouse tours trento trieste trier trondheim tübingen
    tunis turin turku uppsala utrecht valencia valladolid vancouver varna venice verona vienna
    vigo vilnius warsaw washington wellington wiesbaden winchester wolfsburg wrocław wroclaw
    wuppertal würzburg york zagreb zaragoza zürich zurich"""
)
TOWN_ENDS = (
    "burg|berg|ham|ton|ville|stad|grad|ford|field|mouth|bridge|pool|chester|shire|haven|hagen|dorf"
    "|heim|furt|sund|vik|pur|abad|land|stadt|bach|brück|castle|port|wick|worth|dale|borough|bury"
    "|minster|polis|holm|köping|kirchen|hausen|ingen|mark|stead|combe|firth|gate|cester|ness|ø|spa"
    "|bay|falls|springs"
)

# Nouns of every day: at the beginning of a sentence they look like names.
ORDINARY = words_of(
    """air anger apple army art autumn baby bacon bag ball banana bank bath battery beach beard
    beauty bed beer bell bike bird birth blood board boat body bone book boredom bottle box boy
    brain brass bread breakfast breath brick bridge brother bucket bug building bus butter button
    cake calm camera candle car card cards cardboard cat cats chair chalk chaos cheese chess
    child children chocolate church cinnamon city clay cleaning clock cloth cloud clouds coal
    coat code coffee coke cold comedy common computer concrete confusion cookies copper cotton
    country courage cow crane cream crisis crying curiosity dance danger dark darkness data day
    days dead death debt desk dessert diesel dinner dinosaur dirt distance distraction dog dogs
    door doubt dough dream dreams drink driving dust ear earth eating egg eggs electricity
    elevator energy engine error evening everything evil evidence exams exercise experience eye
    face fact failure fame family fashion fat fate father fear feet fiction field film fire fish
    fishing flour flower flowers fog food foot football forest fork forks fortune freedom friday
    friend friends fruit fuel fun fur furniture future game games garden garlic gas ghost gin
    girl glass glitter glory glue god gold golf gossip grammar grass gravity grease greed grey
    grief ground guilt habit hail hair half hammer hand hands happiness hard hat hate health
    heart heat heaven hell help history holiday home honesty honey hope horse hour house humour
    hunger hunting ice idea ideas illness imagination information ink insomnia instinct internet
    iron irony island jazz jealousy jeans jelly job joke jokes juice jungle justice karma key
    keys king kitchen knife knives knowledge lady lamp land language laughter laundry law
    laziness lead leaf leather leaves lemon lesson letter lies life light lightning linen logic
    loneliness lost love luck lunch lungs lust machine magic mail man maths meal meat medicine
    memory men mercy metal midnight milk mind mist mistakes money monkey monster mood moon
    morning mother mountain mountains mouse mouth mud murder music nails name names nature needle
    nerves news night noise noon nostalgia nothing numbers nuts oak oats ocean oil onion optimism
    oranges order oven pain paint pancakes panic pants paper parents party passion past pasta
    patience peace pen pencil people pepper perfume pessimism philosophy phone physics piano pie
    pigeon pizza plan plants plastic plates play pleasure poetry poison politics poverty power
    practice prayer pressure pride prison procrastination progress punctuation purple queen quiet
    rain rage rats reading reality reason red regret religion repetition rest rice riches river
    road rock rope routine rubber rule rules rum running rush rust sadness salad salt sand
    sarcasm sauce sausage school science sea season seaweed second secrets self shame shoes
    shopping silence silk silver simplicity singing skin sky sleep slang smell smoke snacks snow
    soap socks soda solitude song sound soup space speech speed spoon sport sports spring stairs
    star stars steam steel stone stones storm story stress string stubbornness style success
    sugar summer sun sunday sunlight sunrise sunset sunshine surprise sweat sweets swimming table
    talk talking tape taste tax taxes tea tears teeth television tension theatre theory thread
    thunder tide time tin toast tobacco toilet tomorrow tongue tools towels town toys tradition
    traffic train tragedy travel tree trees trouble trust troubles truth tv uncertainty unity
    vanilla velvet vengeance vinegar violence virtue vodka voice walking walls war water waves
    weather weekend weight whisky wind window windows wine winter wisdom wit woman women wood
    wool word words work world worry wrath writing yeast yesterday yoga youth zinc zombies"""
)

FAVOURITES = words_of(
    """actor actress album animal aria artist author bakery band bar beach beer berry bike bird
    biscuit board_game book bookshop brand bread breakfast breed browser bun café cafe cake candy
    car cheese chocolate city cheese club cocktail coffee colour color colours colors comic
    composer conductor cookie country crisps cuisine cup dance dessert director dish distro drink
    dinosaur distribution dog_breed editor fabric film films fish flavour flavor flower flowers
    food foods font football_club football_team framework fruit fruits game games genre gin herb
    holiday ice_cream instrument island jam keyboard knot language languages library lunch
    magazine meal meat month mountain movie movies museum music musician newspaper novel number
    nut ocean opera painter painting park pasta pastry pen piece pizza place planet plant play
    player podcast poem poet port programming_language pub radio_station recipe restaurant river
    road route salad sandwich sauce scent season series shell shop show singer snack soap song
    songs soup spice sport sports stitch stone street subject sweet symphony tea team teas
    terminal theme tool tools tram_line tramline train_line tree trail typeface vegetable
    vegetables village walk whisky wine wood writer yarn yoghurt author authors bands books
    colours artists composers flowers birds bird_song instrumentalist pianist violinist pie waltz
    cheese_shop tree_species shade paint brush needle thread plane bus_line hike saint painter
    lake city_park swimming_pool pool ski_resort country_song hymn carol key interval chord"""
)

WORK = words_of(
    """agent alarm alarms alert alerts api app archive backup backups batch block board bolt
    branch budget build builds cable cables cache calendar certificate changelog check checklist
    clause code column commit config connection contract copy cron customer customers dashboard
    data database deadline delivery deploy deployment desk device diff disk documentation draft
    dump email emails endpoint environment error errors estimate export exports fee file files
    filter folder font fonts form forms format host image import index index input insurance
    invoice invoices job jobs key keys label labels library limit limits linter list locale lock
    log logs machine mail manual memory merge migration model module network number numbers offer
    order orders output package parser patch path permission permissions permit pipeline plan
    plug port price prices printer proxy query queue quota quote receipt receipts record records
    release release report repository request requests response restore review rollback rota
    sample schema screenshot script secret server service settings sheet shipment snapshot spec
    spreadsheet stock supplier switch system table tag template templates terms test tests ticket
    tickets timeout timer token tool tools training translation type types update upgrade upload
    user users valve version versions voltage warranty weights wiring worker workflow"""
)
_ABSTRACT = re.compile(r"\w+(?:tion|sion|ness|ism|ship|hood|omnia|ology|phobia|graphy|ware)")


def is_ordinary(word: str) -> bool:
    """Whether a word in lower case is a noun of every day, in the singular or the plural."""
    return bool({word, word.removesuffix("s")} & ORDINARY)


def is_abstract(word: str) -> bool:
    """Whether a word ends like the name of an idea, and not of a person or a town."""
    return bool(_ABSTRACT.fullmatch(word))
