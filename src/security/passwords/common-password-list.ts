/* eslint-disable max-lines -- data */

/*
 * The 10,000 most frequent passwords with at least two letters, most frequent first, in lower case: the list `passwords` of
 * the Python package zxcvbn 4.5.0, without the other entries. NOTICE has its licence.
 */

/** Separated by white space. */
export const commonPasswordList = `
password qwerty dragon baseball abc123 football monkey letmein shadow master mustang qwertyuiop pussy superman
1qaz2wsx fuckyou qazwsx jordan 123qwe killer trustno1 hunter harley zxcvbnm asdfgh buster batman soccer tigger charlie
sunshine iloveyou fuckme ranger hockey computer starwars asshole pepper klaster zxcvbn freedom princess maggie pass
ginger fuck love cheese summer chelsea dallas biteme matrix yankees corvette austin access thunder merlin secret
diamond hello hammer fucker 1234qwer silver gfhjkm internet samantha golfer scooter test orange cookie q1w2e3r4t5
maverick sparky phoenix mickey bigdog snoopy guitar whatever chicken camaro mercedes peanut ferrari falcon cowboy
welcome sexy samsung steelers smokey dakota arsenal boomer eagles tigers marina nascar booboo gateway yellow porsche
monster spider diablo hannah bulldog junior london purple compaq lakers iceman qwer1234 hardcore cowboys money banana
ncc1701 boston tennis q1w2e3r4 coffee scooby nikita yamaha mother barney brandy chester fuckoff oliver player forever
rangers midnight chicago bigdaddy redsox angel badboy fender jasper slayer rabbit natasha marine bigdick wizard
marlboro raiders prince casper fishing flower jasmine iwantu panties adidas winter winner gandalf password1 enter
ghbdtn 1q2w3e4r golden cocacola jordan23 winston madison angels panther blowme sexsex bigtits spanky bitch sophie
asdfasdf horny thx1138 toyota tiger dick canada blowjob muffin liverpoo apples qwerty123 passw0rd abcd1234 pokemon
123abc slipknot qazxsw scorpion qwaszx butter startrek rainbow asdfghjkl razz newyork redskins gemini cameron
qazwsxedc florida liverpool turtle sierra viking booger butthead doctor rocket dolphins captain bandit jaguar packers
pookie peaches asdf dolphin helpme blue theman maxwell qwertyui shithead lovers maddog giants nirvana metallic hotdog
rosebud mountain warrior stupid elephant suckit success bond007 jackass alexis porn lucky scorpio samson q1w2e3 azerty
rush2112 driver freddy 1q2w3e4r5t sydney gators dexter red123 bubba creative voodoo golf trouble america nissan gunner
garfield bullshit asdfghjk fucking apollo 1qazxsw2 eminem legend airborne bear beavis apple brooklyn godzilla skippy
buddy qwert kitten magic shelby beaver phantom asdasd xavier braves darkness blink182 copper platinum qweqwe tomcat
girls bigboy animal police online voyager lifehack 12qwaszx fish sniper trinity blazer heaven lover snowball playboy
loveme bubbles hooters cricket willow donkey topgun nintendo saturn destiny pakistan pumpkin digital sergey redwings
explorer tits private runner therock guinness lasvegas beatles fire cassie christin qwerty1 celtic asdf1234 andrey
broncos babygirl eclipse fluffy cartman michigan carolina testing alexande birdie pantera cherry vampire mexico
dickhead buffalo genius montana beer minecraft maximus flyers lovely stalker metallica doggie snickers speedy bronco
lol123 paradise yankee horses magnum dreams lacrosse ou812 goober enigma qwertyu scotty pimpin bollocks surfer cock
poohbear genesis star asd123 qweasdzxc racing hello1 hawaii eagle1 viper poopoo einstein boobies bitches drowssap
simple badger alaska action jester drummer spitfire forest maryjane champion diesel svetlana friday hotrod chevy
lucky1 westside security google badass tester shorty thumper hitman mozart zaq12wsx boobs reddog lizard ruslan eagle
scarface qwerty12 buddha porno spirit money1 stargate qwe123 naruto mercury liberty 12345qwert semperfi suzuki popcorn
spooky marley scotland kitty cherokee vikings simpsons rascal qweasd hummer loveyou michael1 patches russia jupiter
penguin passion cumshot vfhbyf honda vladimir sandman passport raider bastard infinity assman bulldogs fantasy sucker
horney domino budlight disney ironman usuckballz1 softball brutus redrum bigred mnbvcxz fktrcfylh karina marines
digger kawasaki cougar fireman oksana monday cunt justice nigger super wildcats tinker logitech dancer swordfis avalon
everton alexandr motorola patriots hentai madonna pussy1 ducati colorado connor juventus galore smooth freeuser
warcraft boogie titanic wolverin elizabet arizona valentin saints asdfg accord test123 password123 christ yfnfif
stinky slut spiderma naughty chopper hello123 ncc1701d extreme skyline poop zombie pearljam 123qweasd froggy awesome
vision pirate fylhtq dreamer bullet predator empire kirill charlie1 panthers penis skipper nemesis rasdzv3 peekaboo
rolltide cardinal psycho danger mookie happy1 wanker chevelle manutd goblue hobbes vegeta fyfcnfcbz picard windows
loverboy victory vfrcbv bambam serega turkey tweety galina hiphop rooster changeme berlin taurus suckme polina
electric avatar maksim raptor alpha1 hendrix newport bigcock brazil spring a1b2c3 madmax alpha britney sublime
darkside bigman wolfpack classic hercules ronaldo letmein1 1q2w3e spiderman blizzard cheyenne cjkysirj tiger1 wombat
bubba1 pandora zxc123 holiday wildcat devils horse alabama caesar buddy1 bondage pussycat pickle shaggy catch22
leather chronic a1b2c3d4 admin qqq111 qaz123 airplane kodiak freepass billybob sunset katana phpbb chocolat snowman
angel1 stingray firebird wolves zeppelin detroit pontiac gundam panzer vagina outlaw redhead tarheels greenday nastya
hardon engineer dragon1 hellfire serenity cobra fireball lickme darkstar mustang1 flash strike beauty pavilion
bobafett dbrnjhbz bigmac bowling chris1 ytrewq natali pyramid rulez welcome1 dodgers apache swimming whynot teens
trooper fuckit defender precious packard weasel popeye lucifer cancer icecream raven swordfish presario viktor
rockstar blonde james1 wutang spike pimp atlanta airforce thailand casino lennon mouse hacker bluebird hawkeye theone
catfish sailor goldfish nfnmzyf tattoo pervert barbie maxima nipples machine trucks wrangler rocks tornado lights
cadillac bubble pegasus madman longhorn browns target eatme qazwsx123 microsoft dilbert christia baller lesbian
shooter xfiles seattle qazqaz cthutq amateur prelude corona freaky malibu 123qweasdzxc assassin atlantis integra
pussies iloveu lonewolf dragons monkey1 unicorn software bobcat stealth peewee openup srinivas zaqwsx valentina
shotgun trigger veronika bruins coyote babydoll joker dollar lestat rocky1 hottie random butterfly wordpass smiley
sweety snake chipper woody samurai devildog gizmo maddie soso123aljg mistress freedom1 flipper express hjvfirf moose
cessna piglet polaris teacher montreal cookies wolfgang scully fatboy wicked balls tickle bunny dfvgbh foobar transam
pepsi fetish oicu812 basketba toshiba hotstuff sunday booty gambit impala stephani jessica1 hooker lancer knicks
shamrock fuckyou2 stinger redneck deftones squirt siemens blaster trucker subaru renegade ibanez manson swinger reaper
blondie mylove galaxy blahblah enterpri travel 1234abcd babylon5 indiana skeeter master1 sugar ficken smoke bigone
sweetpea fucked trfnthbyf marino escort smitty bigfoot babes larisa trumpet spartan valera babylon asdfghj yankees1
bigboobs stormy mister hamlet aardvark butterfl marathon paladin cavalier manchester skater indigo hornet buckeyes
indians karate hesoyam toronto diamonds chiefs buckeye 1qaz2wsx3edc highland hotsex charger redman passwor maiden
drpepper storm pornstar garden pencil sherlock timber thuglife insane pizza jungle jesus1 aragorn 1a2b3c hamster
david1 triumph techno lollol pioneer catdog fktrctq morpheus pascal shadow1 hobbit wetpussy erotic consumer blabla
justme stones chrissy spartak goforit burger pitbull adgjmptw italia barcelona hunting colors kissme virgin overlord
pebbles sundance emerald doggy racecar irina element zipper alpine basket goddess poison nipple sakura chichi huskers
pussys ultimate ncc1701e blackie nicola rommel matthew1 caserta omega geronimo sammy1 trojan 123qwe123 philips nugget
tarzan chicks aleksandr bassman trixie portugal anakin dodger bomber superfly madness q1w2e3r4t5y6 loser 123asd fatcat
ybrbnf soldier warlock wrinkle1 desire sexual babe seminole alejandr westham andrei concrete access14 weed letmein2
ladybug naked christop trombone tintin bluesky rhbcnbyf qazxswedc onelove cdtnkfyf whore vfvjxrf titans stallion truck
hansolo blue22 smiles beagle panama kingkong flatron inferno mongoose connect poiuyt snatch qawsed juice blessed
rocker snakes turbo bluemoon sex4me finger jamaica mulder beetle fuckyou1 passat immortal plastic anthony1 whiskey
dietcoke suck spunky magic1 monitor cactus exigen planet ripper teen spyder apple1 nolimit hollywoo sluts sticky
trunks pickles sailing bonehead ghbdtnbr delta charlott rubber molly1 yomama hongkong jumper william1 ilovesex faster
unreal cumming memphis nylons legion sebastia shalom pentium geheim werewolf funtime ferret orion curious niners
cantona sprite philly pirates abgrtyu lollipop eternity boeing super123 sweets cooldude tottenha green1 jackoff
stocking moomoo martini biscuit drizzt colt45 fossil makaveli snapper satan666 maniac salmon patriot verbatim nasty
shasta asdzxc shaved blackcat raistlin qwerty12345 punkrock cjkywt waterloo crimson twister oxford musicman seinfeld
biggie condor ravens megadeth wolfman cosmos sharks banshee keeper foxtrot gn56gn56 skywalke velvet black1 sesame dogs
squirrel privet sunrise wolverine sucks legolas grendel ghost cats carrot frosty lvbnhbq blades stardust frog qazwsxed
coolio brownie groovy twilight daytona vanhalen pikachu peanuts licker hershey jericho intrepid ninja zaq123 lobster
goblin punisher strider shogun kansas amadeus seven7 jason1 neptune showtime muscle oldman ekaterina rfrfirf getsome
showme obiwan skittles danni tanker maestro tarheel anubis hannibal anal newlife gothic shark fighter blue123 blues
princes slick chaos thunder1 sabine 1q2w3e4r5t6y python test1 mirage devil clover tequila chelsea1 surfing delete
potato chubby panasonic sandiego portland baggins fusion sooners blackdog buttons californ moscow playtime mature
1a2b3c4d dagger dima stimpy asdf123 gangster warriors iverson chargers byteme swallow liquid lucky7 dingdong nymets
cracker mushroom crusader bigguy miami dkflbvbh bugger nimrod tazman stranger newpass doodle powder gotcha guardian
dublin slapshot septembe pepsi1 milano grizzly woody1 knights photos nookie charly rammstein brasil scruffy munchkin
poopie kittycat latino walnut thegame viper1 1passwor kolobok picasso robert1 barcelon bananas trance auburn coltrane
eatshit goodluck starcraft wheels parrot postal blade wisdom pink gorilla katerina pass123 andrew1 shaney14 dumbass
osiris fuck_inside oakland discover ranger1 spanking lonestar bingo meridian ping heather1 dookie stonecol megaman
rjntyjr ledzep lowrider richard1 firefly griffey racerx paradox ghjcnj gangsta zaq1xsw2 tacobell weezer sirius
halflife buffett shiloh vertigo sergei aliens sobaka keyboard kangaroo sinner soccer1 bonjour socrates chucky hotboy
sprint sarah1 scarlet celica shazam formula1 sommer trebor qwerasdf jeep mailcreated5240 bollox asshole1 fuckface
honda1 rebels vacation lexmark penguins ragnarok formula tempest vfhecz tacoma qwertz colombia flames rockon duck
prodigy wookie dodgeram mustangs 123qaz sithlord smoker server bang incubus scoobydo oblivion molson kitkat titleist
rescue zxcv1234 carpet bigballs tardis jimbob xanadu blueeyes shaman mersedes pooper pussy69 golfing hearts mallard
kenwood patrick1 dogg cowboys1 oracle 123zxc nuttertools topper shemale sleepy gremlin yourmom gateway1 printer
monkeys peterpan mikey kingston cooler analsex jimbo pa55word asterix freckles birdman frank1 defiant aussie stud
blondes tatyana aspirine mariners jackal deadhead katrin anime rootbeer frogger polo scooter1 hallo noodles thomas1
parola shaolin celine plymouth creampie justdoit ohyeah fatass assfuck amazon kisses magnus camel nopass bosco harley1
putter champs massive spidey lightnin camelot letsgo gizmodo aezakmi bones caliente goodtime thankyou raiders1
brucelee redalert aquarius catherin smokin pooh mypass astros roller porkchop sapphire qwert123 kevin1 a1s2d3f4
beckham atomic rusty1 vanilla qazwsxedcrfv hunter1 kaktus cxfcnmt blacky elvis1 aggies blackjac bangkok scream iforgot
power1 kasper abc12 buster1 slappy shitty veritas chevrole amber1 vader amsterdam jammer primus spectrum eduard granny
horny1 sasha1 clancy usa123 satan diamond1 hitler avenger spankme 123456qwerty simba smudge scrappy labrador john316
syracuse front242 falcons husker candyman commando gator pacman delta1 pancho krishna fatman clitoris pineappl
lesbians 8j4ye3uz barkley vulcan punkin boner celtics monopoly flyboy romashka hamburg 123456aa lick gangbang area51
spartans aaa111 tricky snuggles drago homerun vectra homer1 hermes topcat cuddles infiniti cosworth goose phoenix1
killer1 ivanov bossman qawsedrf peugeot exigent doberman durango brandon1 plumber telefon horndog laguna rbhbkk dawg
webmaster breeze beast porsche9 beefcake leopard redbull oscar1 topdog godsmack theking pics omega1 speaker viktoria
fuckers bowler starbuck gjkbyf valhalla anarchy blacks herbie kingpin starfish nokia loveit achilles labtec ncc1701a
fitness jordan1 brando arsenal1 bull kicker napass desert sailboat bohica tractor hidden muppet jackson1 jimmy1
terminator phillies pa55w0rd terror farside swingers legacy frontier butthole doughboy jrcfyf tuesday sabbath daniel1
nebraska homers qwertyuio azamat fallen agent007 striker camels iguana looker pinkfloy moloko qwerty123456 dannyboy
luckydog pistol whocares charmed skiing select franky puppy daniil vladik vette vfrcbvrf ihateyou nevada moneys
vkontakte mandingo puppies mystic zidane kotenok dilligaf budman bunghole zvezda triton golfball technics trojans
panda laptop rookie aberdeen gustav jethro enterprise igor stripper filter hurrican rfnthbyf lespaul gizmo1 butch
dthjybrf excalibu nofear momoney possum cutter oilers moocow cupcake gbpltw batman1 splash svetik super1 soleil bogdan
melissa1 vipers babyboy tdutybq lancelot ccbill keystone passwort flamingo firefox dogman vortex rebel noodle raven1
zaphod killme pokemon1 coolman danila designer skinny kamikaze deadman gopher doobie warhammer deeznuts freaks engage
chevy1 steve1 apollo13 poncho hammers azsxdc dracula sassy bitch1 boots deskjet macdaddy mighty rangers1 manchest
sterlin casey1 meatball mailman sinatra cthulhu summer1 bubbas cartoon bicycle eatpussy truelove sentinel tolkien
breast capone lickit summit peter1 daisy1 kitty1 crazy1 jamesbon texas1 sexygirl sonic billyboy redhot microsof
microlab daddy1 rockets iloveyo fernand gordon24 danie cutlass polska star69 titties pantyhos thekid aikido gofish
mayday 1234qwe coke anfield sony lansing smut scotch sexx catman hustler saun dfkthbz passwor1 jenny1 azsxdcfv cheers
irish1 gabrie tinman orioles charlton fortuna airbus rustam xtreme bigmoney zxcasd retard grumpy huskies boxing
4runner kelly1 ultima warlord fordf150 oranges rotten asdfjkl superstar denali sultan bikini saratoga thor figaro
sixers wildfire vladislav sparta mayhem greenbay chewie music1 number1 cancun fabie mellon poiuytrewq cloud9 crunch
bigtime chicken1 piccolo bigbird billy1 mojo maradona sandro chester1 bizkit rjirfrgbde rightnow jasmine1 hyperion
treasure meatloaf armani rovers jarhead cruise coconut dragoon utopia davids cosmo rfhbyf reebok charli giorgi sticks
sayang pass1234 exodus anaconda zaqxsw illini woofwoof emily1 sandy1 packer poontang govols jedi tomato beaner cooter
creamy lionking happy123 albatros poodle kenworth dinosaur greens goku happyday eeyore tsunami cabbage holyshit
turkey50 memorex chaser bogart orgasm tommy1 volley whisper knopka ericsson walleye pepper1 katie1 chickens tyler1
corrado twisted zorro clemson zxcasdqwe tootsie milana zenith fktrcfylhf shania frisco polniypizdec0211 crazybab
junebug fugazi rereirf vfvekz sausage vfczyz koshka clapton justin1 anhyeuem condom fubar hardrock skywalker tundra
cocks gringo canon vitalik aspire stocks samsung1 applepie abc12345 arjay gandalf1 boob pillow sparkle gmoney rockhard
lucky13 samiam everest hellyeah bigsexy skorpion rfrnec hedgehog australi candle slacker dicks voyeur jazzman america1
bobby1 br0d3r wolfie vfksirf 1qa2ws3ed fright yosemite temp karolina fart barsik surf cheetah baddog deniska starship
bootie milena hithere kume greatone dildo 50cent albion amanda1 midget lion maxell football1 cyclone freeporn nikola
bonsai kenshin slider balloon roadkill killbill jerkoff dinamo tekken rambler goliath cinnamon malaka backdoor fiesta
packers1 rastaman fletch sojdlg123aljg stefano artemis calico nyjets damnit robotech duchess rctybz hooter keywest
hal9000 mechanic pingpong operator presto sword rasputin spank bristol faggot shado amsterda wibble carrera alibaba
majestic ramses duster route66 trident clipper steeler wrestlin divine kipper gotohell kingfish snake1 passwords
buttman pompey viagra zxcvbnm1 spurs slutty lineage2 oleg macross pooter brian1 qwert1 charles1 slave jokers yzerman
swimmer ne1469 nwo4life solnce seamus lolipop pupsik moose1 ivanova secret1 matador love69 ktyjxrf subway cinder
vermont pussie chico florian magick guiness allsop ghetto flash1 typhoon dfkthf depeche skydive dammit seeker fuckthis
crysis kcj9wx5n umbrella r2d2c3po snoopdog critter theboss ding splinter kinky cyclops jayhawk caramel qwer123
underdog caveman onlyme grapes feather hotshot fuckher renault george1 sex123 pippen floppy cunts megapass pornos usmc
kickass great1 quattro wassup helloo nicole1 chivas shannon1 bullseye java fishes blackhaw jamesbond tunafish juggalo
dkflbckfd dallas1 translator beanie alucard gfhjkm123 supersta magicman ashley1 cohiba xbox360 caligula facial
dfktynbyf cobra1 cigars fang klingon bob123 safari looser deepthroat malina tazmania gonzo goalie jacob1 monaco
cruiser misfit vh5150 tommyboy marino13 yousuck sharky vfhufhbnf horizon absolut brighton death1 kungfu maxx forfun
mamapapa enter1 budweise banker getmoney kostya qazwsx12 bigbear vector fallout nudist gunners royals chainsaw scania
trader blueboy walrus eastside kahuna qwerty1234 love123 steph cypress champ undertaker ybrjkfq europa snowboar sabres
moneyman chrisbln minime nipper groucho whitey viewsonic penthous wolf359 fabric flounder coolguy whitesox passme
smegma skidoo thanatos fucku2 snapple dalejr mondeo thesims mybaby panasoni sinbad thecat topher frodo sneakers z1x2c3
alfa chicago1 taylor1 ghjcnjnfr cat123 olivier cyber titanium madison1 jabroni dang hambone intruder holly1 gargoyle
sadie1 static poseidon studly newcastl sexxxx poppy johannes danzig beastie musica buckshot sunnyday adonis bluedog
bonkers chrono compute spawn turbo1 smelly wapbbs goldstar ferrari1 quantum pisces boomboom gunnar test1234 florida1
nike superman1 multiplelo custom motherlode 1qwerty westwood usnavy apple123 daewoo korn stereo sasuke sunflowe
watcher dharma mouse1 assholes babyblue 123qwerty marius walmart snoop starfire tigger1 paintbal knickers aaliyah
lokomotiv theend winston1 sapper rover erotica scanner racer zeus sexy69 doogie bayern joshua1 newbie scott1 losers
droopy outkast martin1 dodge1 wasser ufkbyf rjycnfynby thirteen hotred deejay hotpussy jessic philippe scout panther1
cubbies havefun magpie fghtkm avalanch newyork1 pudding leonid harry1 cbr600 audia4 bimmer fucku idontknow vfvfgfgf
aleksey builder zerocool godfather mylife donuts allmine redfish sascha nitram bounce smokes 1x2zkg8w rodman stunner
zxasqw12 hoosier hairy beretta insert rtyuehe francesc tights cheese1 micron quartz hockey1 gegcbr searay jewels bogey
paintball celeron padres bing syncmaster ziggy simon1 beaches prissy diehard orange1 mittens aleksandra queens biggles
thongs southpark artur twinkle gretzky rabota cambiami monalisa gollum chuckles spike1 gladiator whisky spongebob
sexy1 mazafaka meathead ou8122 barefoot cfitymrf bigass a1s2d3 kosmos blessing titty clevelan terrapin ginger1 johnboy
maggot clarinet deeznutz stumpy stoney footbal traveler volvo bucket snapon pianoman hawkeyes futbol casanova tango
goodboy scuba honey1 sexyman warthog mustard abc1234 nickel meowmeow boricua prophet sauron 12qwas reefer andromeda
crystal1 joker1 goofy loco lovesex triangle whatsup mellow bengals monster1 maste lover1 love1 123aaa sunshin smeghead
hokies sting welder rambo cerberus bunny1 rockford monke 1q2w3e4r5 goldwing gabriell buzzard crjhgbjy james007 rainman
groove tiberius purdue nokia6300 hayabusa shou jagger diver zigzag poochie usarmy phish redwood redwing salamander
silver1 abcd123 sputnik boobie ripple eternal 12qw34er thegreat allstar slinky gesperrt mishka whiskers pinhead
overkill sweet1 rhfcjnrf montgom240 sersolution jamie1 starman proxy swords nikolay bacardi rasta badgirl rebecca1
wildman penny1 spaceman logan1 hacked bulldog1 helmet windsor buffy1 runescape trapper banane dbrnjh ripken 12345qwe
frisky shun fester oasis lightning ib6ub9 cicero kool pony thedog megatron illusion edward1 napster squash roadking
woohoo hoosiers tracker bagira midway leavemealone br549 menace rachel1 feng laser stoned realmadrid balloons
tinkerbell maria1 pobeda heineken sonics moonlight optimus comet orchid jaybird kashmir chuang chunky peach mortgage
rulezzz saleen chuckie zippy fishing1 gsxr750 doghouse maxim reader shai buddah benfica chou salomon meister eraser
blackbir bigmike starter pissing angus deluxe eagles1 hardcock mian seahawks godfathe bookworm gregor intel talisman
blackjack babyface hawaiian dogfood zhong sancho ludmila medusa mortimer roadrunn just4me stalin handyman alphabet
pizzas calgary clouds password2 cgfhnfr f**k cubswin gong lexus max123 xxx123 digital1 gfhjkm1 missy1 michae beautifu
gator1 pacers buddie chinook heckfy dutchess sally1 breasts beowulf darkman jenn tiffany1 zhei quan qazwsx1 satana
shang idontkno smiths puddin nasty1 teddybea valkyrie passwd chao boxster killers yoda cheater inuyasha beast1
wareagle foryou dragonball mermaid bhbirf teddy1 dolphin1 misty1 delphi gromit sponge qazzaq fytxrf gameover diao
sergi beamer beemer kittykat rancid manowar adam12 diggler assword austin1 wishbone gonavy sparky1 fisting thedude
sinister venera novell salsero jayden fuckoff1 linda1 vedder 1pussy redline lust jktymrf dfcbkbq dragon12 chrome
gamecube titten cong bella1 leng eureka bitchass banner lakota mustafa preacher hotbox z1x2c3v4 playstation claymore
electra checkers zheng qing armagedon wrestle svoboda bulls nimbus alenka madina newpass6 onetime aa123456 bartman
silverad electron devil666 oliver1 skylar rhtdtlrj gobucks johann milkman camper thunderb bigbutt jammin davide cheeks
goaway lighter claudi thumbs pissoff ghostrider cocaine teng squall lotus hootie blackout doitnow subzero marine1
pothead 123456qw skate peng antoni neng miao bcfields marika musashi tulips nong piao chai ruan southpar nude mandarin
ninjas cannabis jetski xerxes zhuang kleopatra dickie bilbo pinky morgan1 dieter baseball1 tottenham quest yfnfkmz
dirtbike mango jackson5 ipswich iamgod tdutybz modena qiao slippery qweasd123 bluefish samtron toon iscool petrov
fuzzy zhou mollydog deng pheonix zhun ghblehjr othello starcraf sanfran cameltoe badman vasilisa jiang 1qaz2ws luan
sveta 12qw12 akira chuai cheech beatle pickup paloma caravan elizaveta gawker banzai pussey mullet seng bingo1 bearcat
flexible farscape borussia zhuai templar guitar1 toolman yfcntymrf chloe1 xiang slave1 guai nuggets mantis slim
scorpio1 fyutkbyf thedoors 123qq123 zappa fergie 7ugd5hip2j huai asdfzxcv sunflower pussyman deadpool bigtit love12
lassie skyler gatorade carpedie jockey mancity spectre cameron1 artemka reng iomega jing moritz spice rhino spinner
heater zhai hover talon grease qiong corleone ltybcrf tian cowboy1 hippie chimera ting alex123 mickey1 corsair sonoma
aaron1 xxxpass bacchus webmaste chuo xyz123 chrysler spurs1 artem shei cosmic deutsch gabriel1 oceans binladen latinas
speedo buttercu merlot millwall ceng kotaku jiong dragonba stonecold snuffy hellos blaze maggie1 slapper istanbul
bonjovi babylove mazda bullfrog phoeni meng porsche1 nomore bobdylan capslock orion1 zaraza teddybear ntktajy myname
rong wraith mets niao smokie chevrolet dialog gfhjkmgfhjkm dotcom vadim monarch athlon mikey1 hamish pian liang
coolness chui thoma ramones ciccio chippy eddie1 house1 ning marker cougars jackpot barbados reds pdtplf knockers
cobalt amateurs dipshit napoli kilroy pulsar jayhawks daemon alexey weng shuang shiner eldorado soulmate mclaren
golfer1 andromed duan 50spanks sexyboy dogshit shuo kakashka syzygy yeahbaby qiang netscape fulham gooner zhui
rainbow6 laurent dog123 halifax freeway carlitos eastwood microphone monkey12 persik coldbeer geng nuan danny1
fgtkmcby entropy gadget just4fun sophi baggio carlito specialk piramida suan bigblue salasana hopeful mephisto bailey1
hack annie1 generic violetta spencer1 arcadia hondas trainer jones1 smashing liao iceberg rebel1 snooker temp123 zang
matteo fastball q2w3e4r5 bamboo fuckyo shutup astro buddyboy nikitos redbird maxxxx shitface kuai kissmyass sahara
radiohea 1234asdf wildcard maxwell1 patric plasma heynow bruno1 shao bigfish misfits sassy1 sheng testpass nanook
cygnus licking slavik pringles xing ninja1 submit dundee tiburon pinkfloyd yummy shuai guang chopin obelix insomnia
stroker 1a2s3d4f playboy1 lazarus jorda spider1 homerj sleeper darklord cang tripod magician jelly telephon vsjasnel12
pasword iverson3 pavlov homeboy gamecock amigo brodie budapest yjdsqgfhjkm reckless pang tiger123 mason1 orient zong
cdtnbr maksimka bushido taxman giorgio sphinx kazantip concorde verizon lovebug georg sam123 seadoo qazwsxedc123 jiao
jezebel pharmacy abnormal jellybea maxime puffy islander bunnies jiggaman drakon pluto zhjckfd classics crusher mordor
hooligan strawberry scrabble hawaii50 wg8e3wjf cthtuf premium arrow 123456qwe mazda626 ramrod tootie rhjrjlbk ghost1
bounty niang goat killer12 sweetnes porno1 masamune 426hemi corolla mariposa hjccbz doomsday bummer blue12 zhao bird33
excalibur samsun kirsty buttfuck kfhbcf zhuo marcello ozzy dynamite master12 lollypop stepan 1qa2ws spiker goirish
callum michael2 moonbeam attila henry1 lindros andrea1 sporty lantern nextel violin volcom water1 imation inspiron
dynamo citadel placebo clowns tiao tripper dabears haggis merlin1 anthrax amerika iloveme vsegda burrito bombers
snowboard forsaken katarina a1a2a3 woofer tigger2 fullmoon tiger2 spock hannah1 snoopy1 sexxxy sausages stanislav
cobain robotics exotic green123 mobydick senators pumpkins fergus asddsa windsurf reddevil vfitymrf nevermind nang
woodland mick shui q1q2q3 wingman superb zuan ganesh pecker zephyr anastasiya icu812 larry1 broker zalupa mihail
vfibyf dogger paddle varvara schalke 1z2x3c presiden yankees2 tuning poopy concord vanguard stiffy rjhjktdf felix1
wrench firewall boxer bubba69 popper temppass gobears cuan tipper fuckme1 kamila thong puss bigcat drummer1 sowhat
digimon tigers1 rang jingle bian uranus soprano mandy1 dusty1 fandango aloha pumpkin1 postman dogcat bombay pussy123
onetwo highheel pippo julie1 laura1 pepito beng smokey1 stylus stratus reload duckie karen1 jimbo1 krusty snappy
asdf12 electro 111qqq kuang fishin clit abstr christma qqqqq1 carnage guyver boxers kittens zeng qwerty11 toaster
cramps yugioh icehouse zxcvbnm123 pineapple namaste harrypotter mygirl falcon1 earnhard fender1 spikes nutmeg dogboy
softail mypassword prowler bigboss harvest heng jubilee killjoy basset keng zaqxswcde redsox1 biao titan misfit99
robot wifey kidrock gameboy enrico 1z2x3c4v broncos1 arrows havana banger cookie1 chriss 123qw platypus cindy1 lumber
pinball foxy london1 password12 superma longbow radiohead nigga spongebo qwert12345 abrakadabra dodgers1 chillin
niceguy pistons hookup santafe bigben jets vikings1 mankind viktoriya beardog hammer1 reddwarf magelan longjohn
jennife gilles carmex2 stasik bumper doofus slamdunk pixies garion steffi alessandro beerman niceass warrior1 honolulu
visa johndeer mother1 windmill boozer oatmeal aptiva busty delight tasty slick1 bergkamp badgers guitars puffin nikki1
irishman miller1 zildjian airwolf magnet anai install astra romans megan1 mudvayne freebird muscles dogbert snowflak
mang joseph1 nygiants playstat junior1 vjcrdf qwer12 webhompas giraffe pelican jefferso comanche bruiser monkeybo
kjkszpj micro albany angel123 epsilon aladin death666 hounddog josephin altima chilly ultra gasman thisisit pavel
idunno kimmie paulie ballin medion moondog manolo pallmall climber fishbone genesis1 toffee tbone clippers krypton
jerry1 picturs compass sairam getout cobras bigblock severin booster norwich whiteout ctrhtn hewlett shocker
fuckinside chase1 white1 versace basebal iloveyou2 bluebell anthon stubby foreve undertak werder saiyan mama123 medic
chipmunk mike123 mazdarx7 qwe123qwe bowwow kjrjvjnbd celeb choochoo demo lovelife colnago lithium zzzxxx welcom
anastasi fidelio franc roadster stone55 drifter hookem hellboy 1234qw cbr900rr sinned good123654 storm1 gypsy zebra
zachary1 toejam buceta testing1 redfox lineage mike1 highbury koroleva nathan1 washingt vintage redbaron dalshe mykids
macbeth julien james123 krasotka pipeline tatarin sensei codered komodo frogman nascar24 juicy redrose mydick pigeon
tkbpfdtnf smirnoff spam winner1 flyfish moskva 81fukkc olesya starligh summer99 fishhead freesex super12 azazel
scoobydoo cabron yogibear sheba1 konstantin tranny chilli terminat ghbywtccf slowhand soccer12 cricket1 fuckhead
seagull achtung blam bigbob bdsm nostromo survivor cnfybckfd lemonade boomer1 rainbow1 rober irinka cocksuck peaches1
itsme sugar1 zodiac upyours dinara sunny1 chiara johnson1 solitude habibi sushi markiz smoke1 rockies catwoman johnny1
qwerty7 bearcats username wanderer ohshit sigma stephen1 paradigm flanker sanity jsbach spotty bologna fantasia chevys
borabora cocker 123ewq gtnhjdbx sundevil 3000gt mustang6 gagging maggi armstron yfnfkb revolver trouble1 madcat
jeremy1 jackass1 volkswag corndog pool6123 marines1 pizza1 piggy sissy sunfire angelus undead wildbill shinobi
45m2do5bs 123qwer cleopatr lasvega hornets amorcit coventry nirvana1 destin sidekick gbhfvblf sneaky bmw325 nfytxrf
sekret kalina zanzibar hotone qazws wasabi heidi1 highlander blues1 hitachi paolo slayer1 simba1 tinkerbe kieran
boiler bluesman waffle asdfgh01 threesom conan reflex nautilus everlast fatty vader1 cyborg ghbdtn123 birddog rubble
suckers skyhawk 12qw12qw dakota1 joebob nokia6233 woodie longdong lamer troll ghjcnjgfhjkm boating nitro armada
messiah penguin1 americ redeye asdqwe123 monty1 goten spikey sonata tokiohotel sonyericsson citroen compaq1 umpire
belmont jonny pantera1 nudes palmtree fenway bighead razor gryphon andyod22 aaaaa1 taco enterme malachi dogface
reptile dindom handball marseille candy1 torino tigge matthias viewsoni stinker evangelion rampage sandrine thecrow
astral sprinter private1 seabee shibby fearless junkie aramis antelope draven fuck1 mazda6 eggman barselona buddy123
fyfnjkbq nancy1 sluggo kille hotties irishka zxcasdqwe123 shamus fairlane honeybee soccer10 fantomas gladiato karachi
gambler gordo biatch matthe papito excite buffalo1 bobdole cheshire player1 thewho pinky1 mentor tomahawk brown1
bismillah bigpoppa ijrjkfl runaway skibum studman helper squeak holycow manfred harlem glock gideon yellow1 wizard1
margarit success1 medved sf49ers lambda pasadena johngalt quasar coldplay amand playa bigpimp capricorn elefant
sweetness bruce1 luca dominik biker datsun elcamino trinitro malice audi voyager1 joe123 carpente spartan1 mario1
glamour diaper winter1 asimov callisto nikolai pebble vendetta david123 boytoy iloveyou1 stupid1 cayman casper1 zippo
yamahar1 wildwood foxylady calibra dungeon leedsutd bestbuy antares dominion skillet enforcer derparol f00tball
purple1 mingus remingto giggles klaste 3x7pxr coolcat megane synergy macman iforget adgjmp vjqgfhjkm rfvfcenhf rogue
mamamia carnival bolitas paris1 dmitriy dimas papillon knuckles hola tophat cutiepie devo ducks ghjuhfvvf asdqwe
freefall parol zarina buste vitamin warez bigones baritone jamess twiggy mischief bitchy hetfield dontknow grinch
sasha_007 calimero letmei acmilan alexandre whiteboy barney1 money123 bigdawg cygnusx1 zoloto firefigh blowfish
screamer lfybbk chelse harddick sexylady auditt pizdec kojak kfgjxrf 123456ru wp2003wp slugger kordell1 swinging
rockie dimples 1dragon trucking rusty2 roger1 marijuana kerouac paco thecure keepout kernel noname123 francisc bozo
obsidian 12345qw spud tabasco jaguars dfktynby kokomo popova notused sevens magneto roswell lakeside bigbang aspen
little1 loki suckmydick strawber carlos1 nokian73 dirty1 joshu advent slimshady whistler stryker blueball ksusha
bahamut robocop w_pass chris123 impreza prozac bookie bricks alice1 cassandr john123 4ever korova paramedi eclipse1
salope darkangel nomad smackdow yoyoma argentin moonligh 57chevy bootys hardone capricor galant spanker dkflbr magpies
krolik cevthrb cheddar bigbooty scuba1 qwedsa duffman bukkake acura johncena sexxy p@ssw0rd cherries asgard leopold
fuck123 mopar lalakers dogpound matrix1 crusty spanner kestrel fenris universa peachy assasin lemmein eggplant hejsan
canucks wendy1 doggy1 aikman tupac turnip godlike fussball golden1 april1 django petrova captain1 vincent1 ratman
taekwondo chocha serpent perfect1 capetown vampir amore gymnast timeout nbvjatq blue32 ksenia k.lvbkf nazgul budweiser
clutch mariya sylveste beaker cartman1 sexxx forever1 loser1 marseill magellan vehpbr sexgod jktxrf hallo123
liverpool1 southpaw seneca camden camero tenchi johndoe roofer vlad fktyrf zxcv123 wingnut wolfpac notebook
pufunga7782 brandy1 biteme1 goodgirl redhat challeng millenium hoops maveric noname angus1 gaell onion olympus
sabrina1 ricard sixpack gratis gagged camaross hotgirls flasher bubba123 goldfing moonshin gerrard volkov sonyfuck
mandrake tracer lakers1 asians susan1 money12 helmut boater diablo2 1234zxcv dogwood bubbles1 happy2 randy1 aries
beach1 marcius2 navigator goodie hellokitty fkbyjxrf earthlink lookout jumbo opendoor stanley1 marie1 ashle wormix
murzik lakewood bluejays loveya commande gateway2 peppe goth oreo slammer rasmus faith1 knight1 stone1 redskin
ironmaiden gotmilk destiny1 dejavu 1master midnite timosha espresso delfin toriamos oberon ceasar markie 1a2s3d
ghhh47hj7649 vjkjrj daddyo dougie disco auggie lekker therock1 ou8123 start1 noway p4ssw0rd shadow12 saigon 2fast4u
capecod 23skidoo qazxcv beater bremen aaasss roadrunner peace1 12345qwer platon bordeaux vbkfirf test12 supernov
beatles1 qwert40 optimist vanessa1 prince1 ilovegod nightwish natasha1 alchemy bimbo blue99 patches1 gsxr1000 richar
hattrick hott solaris proton nevets enternow beavis1 amigos ambers lenochka suckdick shag intercourse blue1234 spiral
tosser ilove cowgirl canuck q2w3e4 munch spoons waterboy evgeniy savior zasada redcar mamacita terefon globus doggies
htubcnhfwbz cuervo suslik azertyui limewire houston1 stratfor steaua coors tennis1 12345qwerty stigmata derf klondike
patrici marijuan hardball odyssey nineinch boston1 pass1 beezer sandr charon power123 vauxhall awesome1 reggae boulder
funstuff iriska krokodil rfntymrf sterva champ1 bball peeper toolbox cabernet sheepdog magic32 pigpen holein1 lhfrjy
banan dabomb natalie1 jennaj montana1 joecool funky steven1 ringo junio sammy123 qqqwww baltimor footjob geezer
mash4077 cashmone pancake monic grandam bongo yessir gocubs nastia vancouve barley dragon69 watford ilikepie laddie
hairball toonarmy pimpdadd cvthnm hunte davinci lback sophie1 firenze admin1 bonanza elway7 daman strap azert wxcvbn
afrika theforce idefix wolfen houdini scheisse default beech maserati sigmachi dylan1 bigdicks eskimo mizzou riccardo
egghead kronos ghbrjk chaos1 jomama rfhnjirf rodeo dolemite cafc91 nittany pathfind mikael password9 vqsablpzla purpl
gabber modelsne myxworld hellsing punker rocknrol fishon fuck69 lolol twinkie tripleh cirrus redbone killer123 biggun
allegro gthcbr smith1 wanking bootsy barry1 mohawk koolaid futurama samoht klizma lobo honeys peanut1 zxasqw joemama
javelin samm sandra1 flicks montag nataly tasha1 dogbone poker1 p0o9i8u7 goodday smoothie toocool max333 metroid
archange vagabond billabon tyson1 darkange skateboard evolutio morrowind wizards frodo1 rockin cumslut plastics
zaqwsxcde doit outback bumble dominiqu persona nevermore alinka forgetit sexo all4one c2h5oh petunia sheeba kenny1
elisabet aolsucks woodstoc pumper fabio granada scrapper minimoni breaker ncc74656 slimshad friendster austin31
wiseguy donner dilbert1 blackbird buffet jellybean barfly behappy carebear fireblad boxcar cheeky kiteboy hello12
panda1 elvisp opennow doktor alex12 pornking flamengo snowbird lonesome robin1 weed420 baracuda bleach 12345abc nokia1
metall singapor mariner herewego dingo tycoon cubs blunts proview kamasutra lagnaf vipergts navyseal starwar
masterbate wildone peterbil cucumber butkus 123qwert climax deniro gotribe cement scooby1 summer69 harrier shodan
newyear starwars1 romeo1 sedona harald doubled sasha123 bigguns salami awnyce kiwi homemade pimping azzer bradley1
warhamme linkin dudeman qwe321 pinnacle maxdog flipflop lfitymrf fucker1 acidburn esquire sperma fellatio jeepster
thedon sexybitch pookey spliff widget vfntvfnbrf trinity1 mutant samuel1 meliss gohome 1q2q3q mercede comein grin
cartoons paragon henrik rainyday pacino senna bigdog1 alleycat 12345qaz narnia mustang2 tanya1 gianni apollo11 wetter
clovis escalade rainbows freddy1 smart1 daisydog cocksucker pushkin lefty sambo fyutkjxtr hiziad boyz whiplash orchard
newark adrenalin bootsie chelle trustme chewy golfgti tuscl ambrosia 5wr2i7h8 penetration shonuf jughead payday
stickman gotham kolokol johnny5 kolbasa stang puppydog charisma gators1 mone jakarta draco nightmar inlove laetitia
tarpon nautica meadow luckyone chessie goldeney tarakan 69camaro bungle wordup interne fuckme2 dragonfl sprout gerbil
bandit1 melanie1 phialpha camber kathy1 adriano gonzo1 bigjohn bismarck scamper rabbits bynthytn dima123 alexander1
mallorca dragster favorite6 beethove burner cooper1 fosters hello2 normandy sebring 1michael lauren1 blake1 killa
nounours trumpet1 thumper1 playball xantia rugby1 rocknroll guillaum angela1 strelok prosper buttercup masterp dbnfkbr
cambridg venom treefrog lumina supra sexybabe freee shen frogs driller pavement grace1 dicky checker smackdown pandas
cannibal asdffdsa blue42 zyjxrf nthvbyfnjh melrose neon jabber gamma aprilia atticus benessere catcher skipper1
azertyuiop sixty9 thierry treetop jello melons 123456789qwe tantra buzzer catnip bouncer computer1 sexyone ananas
young1 olenka sexman mooses kittys sephiroth contra hallowee skylark sparkles 1qazxsw23edc lucas1 q1w2e3r gofast
hannes amethyst ploppy flower2 hotass amatory volleyba dixie1 bettyboo ticklish frenchy phish1 murphy1 trustno leinad
mynameis spooge jupiter1 hyundai frosch junkmail abacab marbles casio sunshine1 wayne1 longhair caster snicker
gannibal skinhead hansol gatsby segblue2 montecar plato gumby kaboom matty bosco1 jazzy panter jesus123 charlie2
giulia candyass sex69 travis1 farmboy special1 letsdoit password01 allison1 abcdefg1 notredam ilikeit liberty1 rugger
uptown alcatraz airman 007bond navajo kenobi terrier stayout grisha frankie1 fluff 1qazzaq1 virginie tango1 werdna
octopus fitter dfcbkbcf blacklab montrose allen1 supernova frederik ilovepussy justice1 radeon playboy2 blubber sliver
swoosh motocros lockdown pearls thebear istheman pinetree biit 1234rewq rustydog tampabay titts babycake jehovah
vampire1 streaming collie camil fidelity calvin1 stitch gatit restart puppy1 budgie grunt capitals hiking dreamcas
zorro1 riffraff makaka playmate napalm rollin amstel zxcvb123 samanth rumble fuckme69 jimmys pizzaman tralala delpiero
alexi yamato itisme 1million vfndtq kahlua londo wonderboy carrots tazz ratboy rfgecnf nico fujitsu tujhrf sergbest
blobby sonic1 smirnov video1 panhead bucky duffer cashmoney left4dead bagpuss salman titfuck england1 malish dresden
lemans darina zapper 123456as 123456qqq met2002 redstar blue23 pajero booyah please1 tetsuo semper finder hanuman
sunlight treble cupoi password99 dimitri 3ip76k2 popcorn1 lol12345 stellar nympho shark1 keith1 saskia bigtruck
revoluti rambo1 asd222 feelgood phat gogators bismark cola puck furball burnout slonik bowtie mommy1 icecube fabienn
mouser papamama rolex giants1 blue11 trooper1 momdad iklo morten rhubarb gareth blitz canada1 r2d2 brest tigercat
usmarine lilbit benny1 azrael lebowski madagaskar begemot loverman dragonballz italiano mazda3 naughty1 onions diver1
cyrano capcom asdfg123 forlife fisherman weare138 requiem mufasa alpha123 piercing hellas abracadabra duckman caracas
macintos jordan2 crescent fduecn hogtied eatmenow ramjet kicksass whatthe discus rfhfvtkmrf rufus1 sqdwfe mantle
vegitto trek dan123 paladin1 rudeboy liliya lunchbox riversid acapulco libero dnsadm maison toomuch boobear hemlock
sextoy pugsley misiek athome migue altoids marcin rhfcfdbwf jeter2 rhinos rjhjkm mercury1 ronaldinho shampoo makayla
kamilla masterbating tennesse holger john1 matchbox hores poptart parlament goodyear asdfgh1 hardwood alain erection
hfytnrb highlife implants benjami dipper jeeper bendover supersonic babybear laserjet gotenks bama natedogg aol123
pokemo rabbit1 raduga sopranos cashflow menthol pharao hacking ghjcnbnenrf lizzy muffin1 pooky penis1 flyer gramma
dipset becca ireland1 diana1 donjuan pong ziggy1 alterego simple1 cbr900 logger claudia1 cantona7 matisse ljxtymrf
victori harle mamas encore mangos iceman1 diamon alexxx tiamat desktop mafia smurf princesa shojou blueberr welkom
maximka tammy1 bobmarley clips demon666 ismail termite laser1 missie altair donna1 bauhaus trinitron mogwai flyers88
juniper nokia5800 boroda jingles qwerasdfzxcv shakur legos mallrats 1qazxsw goldeneye tamerlan julia1 backbone spleen
49ers shady darkone medic1 justi giggle cloudy aisan douche parkour bluejay huskers1 redwine 1qw23er4 satchmo nineball
stewart1 ballsack probes kappa amiga flipper1 dortmund trigun homepage blinky screwy gizzmo belkin chemist coolhand
chachi braves1 thebest greedisgood pro100 banana1 wonderfu barefeet 8inches 1111qqqq kcchiefs qweasdzxc123 metal1
jennifer1 xian asdasd123 pollux cheerleaers fruity mustang5 turbos shopper photon espana hillbill oyster macaroni
gigabyte jesper motown tuxedo buster12 triplex cyclones estrell mortis holla fiddle sapphic jurassic thebeast ghjcnjq
baura spock1 metallica1 karaoke nemrac58 love1234 flvbybcnhfnjh frisbee diva ajax feathers flower1 soccer11 allday
mierda pearl1 amature marauder redheads womans egorka godbless nimitz aaaa1111 sashka madcow socce greywolf baboon
pimpdaddy reloaded lancia rfhfylfi dicker placid grimace olemiss whores culinary wannabe maxi 1234567aa amelie riley1
trample phantom1 baberuth bramble asdfqwer vides 4you abc123456 taichi aztnm smother outsider hakr blackhawk bigblack
girlie spook valeriya gianluca freedo 1q2q3q4q handbag lavalamp cumm pertinant whatup nokia123 redlight patrik 111aaa
poppy1 dfytxrf aviator sweeps kristin1 cypher elway yinyang access1 poophead tucson noles1 monterey waterfal dank
dougal suede minnesot legman bukowski ganja mammoth riverrat asswipe daredevi lian arizona1 kamikadze alex1234 smile1
angel2 55bgates bellagio wanrltw stiletto lipton arsena biohazard bbking chappy tetris as123456 darthvad lilwayne
nopassword natchez glitter mytime rubicon moto pyon wazzup tbird shane1 nightowl getoff beckham7 trueblue hotgirl
nevermin deathnote taffy bigal copenhag apricot gallaries dtkjcbgtl totoro onlyone civicsi jesse1 baby123 sierra1
festus abacus sickboy fishtank fungus charle golfpro teensex mario66 seaside aleksei rosewood blackberry bedlam schumi
deerhunt contour darkelf surveyor deltas pitchers dipstick funny1 lizzard jupiter2 softtail titman greenman z1x2c3v4b5
smartass notnow myworld nascar1 chewbacc nosferatu downhill dallas22 kuan blazers whales soldat craving powerman
yfcntyf hotrats cfvceyu qweasdzx princess1 feline qqwwee chitown 1234qaz mastermind dingbat care1839 standby kismet
atreides dogmeat icarus monkeyboy alex1 mouses nicetits sealteam chopper1 crispy winter99 rrpass1 myporn myspace1
corazo topolino ass123 lawman muffy orgy 1love passord hooyah ekmzyf pretzel amonra nestle jimbeam happyman stonewal
helios manunited harcore dick1 gaymen 2hot4u light1 qwerty13 kakashi pjkjnj alcatel taylo allah buddydog ltkmaby mongo
blonds start123 audia6 civilwar bellaco turtles mustan deadspin aaa123 fynjirf lucky123 tortoise amor summe waterski
zulu drag0n dtxyjcnm gizmos strife interacial pusyy goose1 bear1 equinox matri jaguar1 tobydog sammys nachos traktor
bryan1 morgoth dasani miami1 mashka xxxxxx1 ownage nightwin hotlips passmast cool123 skolko eldiablo manu screwyou
badabing foreplay hydro kubrick seductive demon1 comeon galileo aladdin metoo happines mizuno caddy bizzare girls1
redone ohmygod sable bonovox girlies hamper opus gizmodo1 aaabbb pizzahut rocky2 anton1 kikimora peavey ocelot
a1a2a3a4 2wsx3edc jackie1 solace sprocket galary chuck1 volvo1 shurik poop123 locutus virago wdtnjxtr tequier bisexual
doodles makeitso fishy nothing1 fishcake sentry libertad oaktree fivestar adidas1 vegitta mississi spiffy carme
neutron vantage agassi boners hilltop taipan barrage kenneth1 fister martian willem lfybkf bluestar moonman ntktdbpjh
paperino bikers daffy benji quake dragonfly suckcock danilka lapochka belinea calypso asshol camero1 abraxas mike1234
womam q1q2q3q4q5 youknow maxpower pic's audi80 sonora raymond1 tickler tadpole belair crazyman finalfantasy jonatha
paisley kissmyas morgana monste mantra spunk magic123 jonesy mark1 alessand baddest ghbdtnrfrltkf zxccxz tictac
augustin racers 7grout foxfire openit nathanie 1z2x3c4v5b seadog gangbanged lovehate hondacbr harpoon mamochka
fisherma bismilla locust wally1 spiderman1 saffron utjhubq 20spanks safeway pisser bdfyjd kristen1 bigdick1 magenta
vfhujif anfisa friday13 qaz123wsx tyrant guan meggie kontol nurlan ayanami rocket1 yaroslav websol76 mutley hugoboss
websolutions elpaso gagarin badboys sephirot newuser qian edcrfv booger1 lockout timoxa94 mazda323 firedog sokolova
skydiver jesus777 soulfly canary malinka guillerm hookers dogfart surfer1 osprey india123 rhjkbr stoppedby nokia5530
blue1 werter divers alpina cali whoknows godspeed foreskin fuzzy1 heyyou didier slapnuts fresno rosebud1 sandman1
bears1 blade1 honeybun queen1 baronn pakista philipp topsecret sniper1 slipper letsfuck pippen33 godawgs mousey
qw123456 scrotum loveis lighthou bp2002 nancy123 jeffrey1 susieq buddy2 ralphie trout1 willi antonov sluttey rehbwf
marty1 darian losangeles letme1n pusssy godiva ender golfnut leonidas a1b2c3d4e5 puffer general1 wizzard lehjxrf
racer1 bigbucks cool12 buddys zinger esprit vbienrf josep tickling froggie daddys crumbs gucci mikkel opiate tracy1
christophe came11 petrovich humbug dirtydog allstate horatio wachtwoord creepers squirts rotary bigd georgia1 fujifilm
2sweet dasha yorkie slimjim wiccan kenzie system1 skunk getit pommes daredevil sugars bucker piston lionheart 1bitch
catfight recon icecold fantom vodafone kontakt boris1 vfcnth canine valleywa faraon chickenwing101 qq123456 livewire
livelife roosters jeepers ilya1234 coochie pavlik dewalt dfhdfhf architec blackops 1qaz2wsx3edc4rfv rhfcjnf wsxedc
teaser sebora rhino1 ankara swifty decimal redleg shanno nermal candies smirnova dragon01 photo1 ranetki a1s2d3f4g5
axio wertzu maurizio 6uldv8 zxcvasdf punkass flowe graywolf peddler 3rjs1la7qe mpegs seawolf ladyboy pianos piggies
vixen alexus orpheus gdtrfb macgyver hugetits ralph1 flathead maurici mailru goofball nissan1 nikon stopit odin big1
smooch reboot famil bullit anthony7 gerhard methos morena eagle2 jessica2 zebras getlost gfynthf sarajevo indon comets
tatjana rfgbnjirf joystick batman12 sabre beerme victory1 kitties badboy1 booboo1 comcast slava squid saxophon
lionhear qaywsx bustle nastena roadway loader hillside starlight niggers access99 bazooka molly123 blackice bandi
cocacol nfhfrfy timur muschi horse1 quant4307s squerting oscars mygirls flashman tangerin goofy1 p0o9i8 housewifes
newness monkey69 escorpio password11 hippo warcraft3 qazxsw123 qpalzm ribbit ghbdtndctv bogota star123 lincoln1 bigjim
lacoste firestorm legenda indain ludacris milamber evangeli letmesee hooters1 bigred1 shaker husky a4tech cnfkrth
argyle rjhjdf nataha 0o9i8u7y gibson1 sooners1 glendale archery hoochie stooge aaaaaa1 scorpions school1 vegas1 rapier
mike23 bassoon groupd2013 macaco baker1 labia freewill santiag silverado butch1 vflfufcrfh monica1 rugrat cornhole
aerosmit bionicle gfgfvfvf daniel12 virgo fmale favorite2 detroit1 pokey shredder baggies wednesda cosmo1 mimosa
sparhawk firehawk romario 911turbo funtimes fhntvrf nexus6 timothy1 bajingan terry1 frenchie raiden 1mustang
babemagnet nadejda truffles rapture douglas1 lamborghini motocross rjcvjc skeeter1 dante1 angel666 telecom carsten
pietro bmw318 astro1 carpediem samir orang helium scirocco fuzzball rushmore rebelz hotspur lacrimosa chevys10
madonna1 domenico yfnfirf jachin shelby1 bloke dawgs dunhill atlanta1 service1 mikado devilman angelit reznor euphoria
lesbain checkmat browndog phreak blaze1 crash1 farida mutter luckyme horsemen vgirl jediknig asdas cesare allnight
rockey starlite truck1 passfan close-up samue cazzo wrinkles homely eatme1 sexpot snapshot dima1995 asthma thetruth
ducky blender priyanka gaucho dutchman sizzle kakarot passcode justinbieber elodie sanjay alex01 lotus1 2300mj lakshmi
zoomer quake3 teapot ramada pennywis striper pilot1 chingon optima nudity ethan1 euclid beeline loyola biguns zaq12345
bravo1 disney1 buffa assmunch vivid wellingt aqwzsx madala11 sigmar pictere tiptop bettyboop dinero tahiti gregory1
bionic speed1 fubar1 lexus1 denis1 hawthorn saxman suntzu bernhard dominika camaro1 hunter12 balboa bmw2002 seville
diablo1 vfhbyjxrf 1234abc carling lockerroom punani darth baron1 vaness 1password libido picher karamba futyn007
daydream dragon123 friends1 bopper rocky123 chooch asslover shimmer riddler openme tugboat sexy123 midori gulnara
christo swatch laker offroad puddles hackers mannheim manager1 horseman roman1 dancer1 komputer pictuers nokia5130
ejaculation lioness evilone nastenka pushok javie lilman mjolnir toulouse pussy2 bigworm smoke420 fullback extensa
dreamcast belize delboy willie1 casablanca csyjxtr ricky1 bonghit salvator basher pussylover rosie1 vivitron cobra427
meonly armageddon myfriend zardoz qwedsazxc kraken fzappa starfox illmatic capoeira weenie ramzes freedom2 toasty
pupkin shinigami fhvfutljy nocturne churchil thumbnils tailgate neworder sexymama goarmy cerebus michelle1 vbifyz
surfsup earthlin dabulls basketbal aligator mojojojo saibaba welcome2 wifes wdtnjr slasher papabear terran footman
hocke texans tom123 sfgiants billabong aassdd monolith xxx777 l3tm31n ticktock newone hellno japanees contortionist
admin123 scout1 alabama1 divx1 rochard privat radar1 bigdad fhctybq tortuga citrus avanti fantasy1 woodstock fireman1
embalmer woodwork bonzai konyor newstart jigga panorama goats smithy rugrats hotmama daedalus nonstop fruitbat lisenok
quaker violator my3sons cajun fraggle gayboy oldfart vulva knickerless orgasms undertow binky litle kfcnjxrf
masturbation bunnie alexis1 planner transexual sparty leeloo monies fozzie stinger1 landrove anakonda scoobie yamaha1
henti star12 rfhlbyfk beyonce catfood cjytxrf zealots strat fordtruc archangel silvi sativa boogers miles1 bigjoe
tulip petite greentea shitter jonboy voltron morticia evanescence 3edc4rfv longshot windows1 serge aabbcc starbucks
sinful drywall prelude1 www123 camel1 homebrew marlins letmeinn domini swampy plokij fordf350 webcam michele1 bolivi
wingzero qawsedrftg shinji sverige jasper1 piper1 cummer iiyama gocats amour alfarome jumanji mike69 fantasti 1monkey
w00t88 shawn1 lorien 1a2s3d4f5g koleso murph natascha sunkist kennwort emine grinder q1q2q3q4 cheeba money2 qazwsxedc1
diamante prosto pdiddy stinky1 gabby1 luckys franci pornographic moochie gfhjdjp samdog empire1 comicbookdb emili
motdepasse iphone braveheart reeses nebula sanjose bubba2 kickflip arcangel superbow porsche911 xyzzy nigger1 dagobert
devil1 alatam monkey2 barbara1 vfpfafrf alessio babemagn aceman arrakis kavkaz jasons berserk sublime1 rogue1 myspace
buckwhea csyekz pussy4me vette1 boots1 boingo arnaud budlite redstorm paramore becky1 imtheman chango marley1 milkyway
giveme mahalo lux2000 lucian paddy praxis shimano bigpenis creeper newproject2004 rammstei j3qq4h7h2v hfljcnm lambchop
anthony2 bugman gfhjkm12 dreamer1 stooges cybersex diamant cowboyup maximus1 sentra goethe manhatta fastcar selmer
yfnfitymrf denni chewey yankee1 elektra trousers fishface topspin orwell vorona sodapop motherfu ibilltes forall
kookie ronald1 balrog maximilian mypasswo sonny1 zzxxcc tkfkdg magoo mdogg heeled gitara lesbos marajade tippy
morozova enter123 lesbean pounded asd456 fialka scarab sharpie spanky1 gstring sachin 12345asd princeto hellohel
ursitesux billows 1234kekc kombat cashew duracell kseniya sevenof9 kostik arthur1 corvet07 rdfhnbhf songoku tiberian
needforspeed 1qwert dropkick kevin123 panache libra a123456a kjiflm vfhnsirf cntgfy iamcool narut buffer sk8ordie
urlaub fireblade blanked marishka gemini1 altec gorillaz chief1 revival47 ironman1 space1 ramstein doorknob
devilmaycry nemesis1 sosiska pennstat monday1 pioner shevchenko detectiv evildead blessed1 aggie coffees tical scotts
bullwink marsel krypto adrock rjitxrf asmodeus rapunzel theboys hotdogs deepthro maxpayne veronic fyyeirf otter cheste
abbey1 thanos bedrock bartok google1 xxxzzz rodent montecarlo hernande mikayla bravehea 12locked ltymub pegasus1
ameteur saltydog faisal milfnew momsuck everques ytngfhjkz m0nkey businessbabe cooki custard 123456ab lbvjxrf outlaws
qwerty78 udacha insider chees fuckmehard shotokan katya seahorse vtldtlm turtle1 mike12 beebop heathe everton1 darknes
barnie rbcekz alisher toohot theduke reddog1 breezy bulldawg monkeyman baylee losangel mastermi apollo1 aurelie
zxcvb12345 cayenne bastet wsxzaq geibcnbr yello fucmy69 redwall ladybird bitchs cccccc1 rktjgfnhf ghjdthrf quest1
oedipus linus impalass fartman fokker optiplex bbbbbb1 realtor slipkno santacru rowdy jelena smeller ddddd1 sexyme
janet1 eatme69 cazzone today1 poobear ignatius master123 newpass1 heather2 snoopdogg blondinka pass12 honeydew
fuckthat lovem goldrush gecko biker1 llama pendejo avalanche fremont snowman1 gandolf chowder 1a2b3c4d5e flyguy
magadan 1fuck pingvin nokia5230 ab1234 lothar lasers bignuts renee1 royboy skynet dragrace lovely1 booter corvett
123456qq capital1 videoes funtik wyvern flange sammydog hulkster not4you vorlon omegared l58jkdjp! filippo 123mudar
samadams petrus chris12 charlie123 icetea sunderla adrian1 123qweas kazanova aslan monkey123 fktyeirf goodsex 123ab
lbtest banaan bluenose asd12345 waffenss whateve 1a2a3a4a trailers vfhbirf bhbcrf klaatu turk182 monsoon beachbum
sunbeam succes clyde1 viking1 rawhide bubblegum princ mackenzi hershey1 dima55 niggaz manatee aquila anechka pamel
bugsbunn lovel sestra newport1 althor hornyman wakeup zzz111 phishy cerber torrent thething solnishko babel buckeye1
peanu ethernet uncencored baraka chris2 rb26dett willy1 choppers texaco biggirl anna2614 sukebe caralho callofduty
rt6ytere jesus7 angel12 1money timelord allblack pavlova romanov tequiero yitbos lookup bulls23 snowflake dickweed
barks lever irisha firestar fred1234 ghjnjnbg danman gatito betty1 milhouse kbctyjr masterbaiting delsol papit doggys
bdfyjdf invictus bloods kayla1 yourmama apple2 angelok bigboy1 pontiac1 verygood yeshua twins2 porn4me rasta69 james2
bosshog candys adventur stripe djkjlz dokken austin316 skins hogwarts vbhevbh navigato desperado xxx666 cneltyn
vasiliy hazmat daytek eightbal fred1 four20 fabia aerosmith manue wingchun boohoo hombre sanity72 goatboy fuckm
partizan avrora utahjazz submarin pussyeat heinlein control1 costaric smarty chuan triplets snowy snafu teacher1
vangogh vandal evergree cochise qwerty99 pyramid1 saab900 sniffer qaz741 lebron23 mark123 wolvie blackbelt yoshi
feeder janeway nutella fuking asscock deepak poppie bigshow housewife grils tonto cynthia1 temptress irakli belle1
russell1 manders frank123 seabass gforce songbird zippy1 naught brenda1 chewy1 hotshit topaz girfriend marinka
jakester thatsme planeta falstaff patrizia reborn riptide cherry1 shuan nogard chino oasis1 qwaszx12 goodlife davis1
harrys shitfuck russian7 bulls1 porshe danil dolphi river1 sabaka gobigred deborah1 volkswagen miamo alkaline muffdive
1letmein fkbyrf goodguy hallo1 nirvan ozzie cannonda cvbhyjdf marmite germany1 joeblow radio1 love11 raindrop jacko
newday fathead elvis123 caspe citibank sports1 deuce boxter fakepass golfman snowdog birthday4 nonmembe niklas
parsifal krasota theshit maganda nikita1 omicron cassie1 columbo buick sigma1 thistle bassin rickster apteka sienna
skulls miamor coolgirl gravis 1qazxc virgini hunter2 akasha batma motorcyc bambino tenerife fordf250 zhuan iloveporn
markiza hotbabes becool fynjybyf wapapapa forme mamont pizda dragonz sharon1 scrooge mrbill pfloyd leeroy natedog
ishmael tecumseh carajo nfy.irf blackcock fedorov antigone feanor novikova bobert peregrin spartan117 pumkin rayman
manuals tooltime bonethug marina1 bonnie1 tonyhawk laracroft mahalkita terriers gamer hoser littlema molotok glennwei
lemon1 caboose tater brians fritz1 mistral jigsaw fuckshit hornyguy southside edthom antonio1 bobmarle pitures
ilikesex crafty nexus boarder fulcrum astonvil yanks1 yngwie account1 zooropa hotlegs sammi gumbo rover1 perkele
maurolarastefy lampard barracud dmband abcxyz pathfinder yuliya micky jayman asdfg12345 halcyon rerfhtre feniks zaxscd
gotyoass jaycee samson1 jamesb vibrate grandpri camino colossus davidb mamo4ka nicky1 homer123 pinguin watermelon
shadow01 lasttime glider helen1 pyramids tulane osama rostov john12 scoote bhbyrf gohan galeries joyful bigpussy tonka
mowgli astalavista zzz123 leafs dalejr8 unicorn1 primal bigmama okmijn killzone qaz12345 snookie zxcvvcxz davidc epson
rockman ceaser beanbag katten duckhunt segreto matros ragnar sexsexse fuckyeah bigbutts gbcmrf element1 marketin
saratov elbereth blaster1 yamahar6 grime masha juneau pappy lindsay1 mooner seattle1 katzen lucent polly1 lagwagon
pixie misiaczek smokedog lakers24 eyeball ironhors ametuer volkodav vepsrf kimmy gumby1 poi098 ovation 1q2w3 drinker
penetrating summertime 1dallas prima modles takamine hardwork macintosh tahoe passthie chiks sundown flowers1 boromir
music123 phaedrus albert1 joung malakas gulliver parker1 balder sonne jessie1 domainlock2005 express1 vfkbyf youandme
raketa koala dhjnvytyjub nhfrnjh testibil ybrbnjc axeman pintail pokemon123 dogggg shandy thesaint x72jhhu3z theclash
raptors zappa1 djdjxrf hell666 friday1 vivaldi pluto1 lance1 guesswho jeadmi corgan skillz skippy1 mango1 gymnastic
satori theedge cxfcnkbdfz sparkey deicide bagels lololol lemmings r4e3w2q1 silve staind schnuffi dazzle basebal1
leroy1 bilbo1 luckie qwerty2 goodfell hermione peaceout davidoff yesterda killah flippy chrisb zelda1 headless muttley
fuckof tittys catdaddy photog beeker reaver ram1500 yorktown bolero tryagain arman chicco learjet alexei jenna1
go2hell 12s3t4p55 momsanaladventure mustang9 protoss rooter ginola dingo1 mojave erica1 1qazse4 marvin1 redwolf
sunbird dangerou maciek girsl hawks1 packard1 excellen dashka soleda toonces acetate nacked jbond007 alligator debbie1
wellhung monkeyma supers rigger larsson vaseline rjnzhf maripos 123456asd cbr600rr doggydog cronic jason123 trekker
flipmode druid sonyvaio dodges mayfair mystuff fun4me samanta sofiya magics 1ranger arcane sixtynin omerta luscious
gbyudby bobcats envision chance1 seaweed holdem tomate mensch slicer acura1 goochi qweewq punter repoman tomboy never1
cortina gomets dogma bhjxrf loglatin eragon strato gazelle growler klaudia payton34 fuckem butchie scorpi lugano
nichola chipper1 spide uhbujhbq rsalinas vfylfhby longhorns bugatti everquest !qaz2wsx blackass snakeman p455w0rd
fanatic family1 pfqxbr 777vlad mysecret marat phoenix2 october1 genghis panties1 cooker citron ace123 gramps blackcoc
kodiak1 hickory ivanhoe blackboy escher sincity beaks meandyou spaniel canon1 timmy1 lancaste polaroid edinburg
fuckedup hotman cueball golfclub gopack bookcase worldcup dkflbvbhjdbx twostep 17171717aa letsplay zolushka stella1
pfkegf kingtut 67camaro barracuda wiggles gjhjkm prancer patata kjifhf theman1 romanova sexyass copper1 dobber sokolov
pomidor algernon cadman amoremio william2 silly1 bobbys hercule hd764nw5d7e1vb1 defcon deutschland robinhood alfalfa
machoman lesbens pandora1 easypay tomservo nadezhda goonies saab9000 jordyn f15eagle dbrecz 12qwerty greatsex thrawn
blunted baywatch doggystyle loloxx chevy2 january1 kodak bushel ub6ib9 zz8807zpl briefs hawker first1 bonzo brent1
erasure sidewind soccer13 mentos kolibri onepiece united1 ponyboy keksa12 wayer mypussy andrej mischa mille bruno123
garter bigpun talgat familia jazzy1 mustang8 newjob bobber blackbel hatteras ginge asdfjkl; camelot1 blue44 rebbyt34
ebony1 vegas123 myboys aleksander ijrjkflrf lopata pilsner lotus123 m0nk3y andreev freiheit balls1 drjynfrnt mazda1
waterpolo shibumi 123bbb cezer121 blondie1 volkova rattler kleenex ben123 sanane happydog satellit qazplm
qazwsxedcrfvtgb meowmix badguy facefuck spice1 blondy major1 anna123 sober1 deathrow patterso china1 naruto1 hawkeye1
waldo1 butchy crayon 5tgb6yhn klopik crocodil mothra imhorny pookie1 splatter slippy lizard1 router buratino yahweh
dragon11 123qwe456 peepers trucker1 ganjaman 1hxboqg2 cheyanne storys sebastie zztop maddison 4rfv3edc darthvader
jeffro iloveit victor1 hotty delphin lifeisgood gooseman shifty insertions dude123 abrupt 123masha boogaloo chronos
stamford pimpster kthjxrf getmein amidala flubber fettish grapeape dantes oralsex jack1 foxcg33 winchest francis1
getin archon cliffy blueman 1basebal sport1 emmitt22 porn123 bignasty morga 123hfjdk147 ferrar juanito fabiol caseydog
steveo peternorth paroll kimchi bootleg gaijin secre acacia eatme2 amarillo monkey11 rfhfgep tylers a1a2a3a4a5
sweetass blower rodina babushka camilo cimbom tiffan vfnbkmlf ohbaby gotigers lindsey1 dragon13 romulus qazxsw12
zxcvbn1 dropdead hitman47 snuggle eleven11 bloopers 357mag avangard bmw320 ginscoot dshade masterkey voodoo1 rootedit
caramba leahcim hannover 8phrowz622 tim123 cassius angelito zzzzz1 badkarma star1 malaga glenwood footlove golf1
summer12 helpme1 fastcars titan1 police1 polinka k.jdm marusya augusto shiraz pantyhose donald1 blaise arabella
brigada c3por2d2 peter01 marco1 hellow dillweed uzumymw geraldin loveyou2 toyota1 gophers indy500 slainte 5hsu75kpot
teejay renat racoon sabrin angie1 shiznit harpua sexyred latex tucker1 alexandru wahoo teamwork deepblue goodison
rundmc r2d2c3p0 puppys samba ayrton boobed topsecre blowme1 loudog random1 pantie drevil mandolin hottub brother1
failsafe spade1 matvey open1234 carmen1 priscill schatzi kajak gooddog trojans1 gordon1 kayak calamity argent ufhvjybz
seviyi penfold assface dildos hawkwind crowbar yanks ruffles rastus luv2epus open123 aquafina dawns jared1 teufel
vwgolf pepsi123 amores passwerd boliva smutty headshot password3 davidd zydfhm gbgbcmrf pornpass insertion ceckbr
test2 car123 checkit dbnfkbq niggas nyyankee muskrat nbuhtyjr gunner1 ocean1 fabienne chrissy1 wendys loveme89 batgirl
cerveza igorek steel1 ragman boris123 novifarm sexy12 qwerty777 mike01 giveitup 123456abc fuckall crevice hackerz
gspot eight8 assassins texass swallows baldur moonshine labatt modem sydney1 voland dbnfkz hotchick jacker princessa
dawgs1 holiday1 booper reliant miranda1 jamaica1 andre1 badnaamhere barnaby tiger7 david12 margaux corsica 085tzzqi
universi thewall nevermor martin6 qwerty77 cipher apples1 seraphim black123 imzadi gandon ducati99 1shadow
dkflbvbhjdyf 44magnum bigbad feedme samantha1 ultraman redneck1 jackdog usmc0311 fresh1 monique1 tigre alphaman cool1
greyhoun indycar crunchy 55chevy carefree willow1 063dyjuy xrated assclown federica hilfiger trivia bronco1 mamita
simcity lexingky akatsuki retsam johndeere abudfv raster elgato businka satanas mattingl redwing1 shamil patate mannn
moonstar evil666 bowl300 tanechka carthage babygir santino bondarenko jesuss chico1 numlock shyguy sound1 kirby1
needit mostwanted funky1 steve123 passions anduril kermit1 prospero lusty barakuda dream1 broodwar porky christy1
mahal yyyyyy1 allan1 1sexy flintsto capri cumeater heretic robert2 hippos blindax marykay collecti kasumi 1qaz!qaz
chemistr coolboy 0o9i8u kabuki righton tigress nessie sergej andrew12 yfafyz ytrhjvfyn angel7 victo mobbdeep lemming
transfor myhouse aeynbr muskie leno4ka westham1 cvbhyjd daffodil pussylicker pamela1 stuffer warehous tinker1 2w3e4r
pluton louise1 polarbea prime1 anatoliy januar wysiwyg cobraya ralphy whaler xterra cableguy porn69 jamesd aqualung
jimmy123 lumpy luckyman kingsize golfing1 alpha7 leeds1 marigold lol1234 teabag alex11 10sne1 saopaulo shanny roland1
basser carol1 year2005 morozov saturn1 joseluis bushed redrock memnoch lalaland indiana1 lovegod gulnaz buffalos
loveyou1 anteater pattaya jaydee redshift bartek summerti coffee1 ricochet incest schastie rakkaus h2opolo suikoden
perro dance1 loveme1 whoopass vladvlad boober flyers1 alessia gfcgjhn pipers papaya gunsling coolone blackie1 gonads
gfhjkzytn foxhound qwert12 gangrel ghjvtntq bluedevi mywife summer01 hangman licorice patter vfr750 thorsten ninguna
dakine strange1 mexic vergeten 8phrowz624 stampede floyd1 sailfish raziel ananda giacomo freeme crfprf allstars
master01 solrac gfnhbjn bayliner bmw525 3465xxx catter single1 michael3 pentium4 nitrox mapet123456 halibut killroy
xxxxx1 phillip1 poopsie arsenalfc buffys kosova all4me arslan opensesame brutis charles2 pochta nadegda backspac
mustang0 invis gogeta adam25 niceday truckin gfdkbr biceps sceptre bigdave lauras user345 sandys shabba ratdog
cristiano natha march13 gumball getsdown wasdwasd redhead1 dddddd1 longlegs starsky ducksoup bunnys omsairam whoami
fred123 danmark flapper swanky lakings yfhenj asterios rainier searcher dapper ltdjxrf horsey seahawk shroom tkfkdgo
aquaman tashkent number9 messi10 1asshole milenium illumina vegita jodeci buster01 bareback goldfinger fire1 33rjhjds
sabian thinkpad smooth1 sully bonghits sushi1 magnavox colombi voiture limpone oldone aruba rooster1 zhenya nomar5
touchdow limpbizkit rhfcfdxbr baphomet afrodita bball1 madiso ladles lovefeet matthew2 theworld thunderbird dolly1
123rrr forklift alfons berkut speedy1 saphire oilman creatine pussylov bastard1 wicked1 filimon skyline1 fucing
yfnfkbz hot123 abdulla nippon nolimits billiard booty1 buttplug westlife coolbean aloha1 lopas asasin october2 whodat
good4u kostas ilya1992 regal pioneer1 volodya focus1 bastos nbvjif fenix anita1 vadimka nickle jesusc teste christ1
essendon evgenii celticfc adam1 forumwp lovesme 26exkp chillout burly thelast1 marcus1 metalgear test11 ronaldo7
socrate world1 franki mommie vicecity postov1000 charlie3 oldschool legoland antoshka counterstrike buggy mustang3
qwertzui toons chesty bigtoe tigger12 limpopo rerehepf diddle nokia3250 solidsnake conan1 rockroll titanic1 qwezxc
cloggy prashant katharin maxfli takashi cumonme michael9 mymother pennstate khalid fightclub showboat mateusz elrond
teenie arrow1 mammamia dustydog dominator erasmus zxcvb1 1a2a3a bones1 dennis1 galaxie pleaseme whatever1 junkyard
galadriel charlies 2wsxzaq1 crimson1 behemoth teres master11 fairway shady1 pass99 1batman joshua12 baraban apelsin
mousepad melon twodogs 123321qwe metalica ryjgrf pipiska rerfhfxf lugnut cretin iloveu2 powerade aaaaaaa1 omanko
kovalenko isabe chobits 151nxjmt shadow11 zcxfcnkbdf gy3yt2rgls vfhbyrf bladerunner goodone wonton doodie fuckyou123
kitty123 chisox orlando1 skateboa red12345 destroye snoogans satan1 juancarlo goheels jetson scottt fuckup aleksa
gfhfljrc passfind oscar123 derrick1 hateme viper123 pieman audi100 tuffy andover shooter1 makarov grant1 nighthaw
browneye batigol nfvfhf chocolate1 7hrdnw23 petter bantam morlii jediknight brenden argonaut goodstuf wisconsi
abigail1 dirtbag splurge lucky777 valdepen gsxr600 ghjnjrjk zaq1xsw2cde3 schwanz walter1 letmein22 nomads codeblue
nokian70 fucke footbal1 agyvorc aztecs passw0r smuggles femmes ballgag krasnodar tamuna schule sixtynine empires
erfolg dvader ladygaga elite1 venezuel nitrous kochamcie olivia1 trustn01 arioch sting1 tristar maroon marsik fomoco
natalka cwoui tartan davecole nosferat hotsauce dmitry horus dimasik skazka boss302 bluebear vesper ultras tarantul
asd123asd azteca theflash 8ball 1footbal titlover lucas123 number6 sampson1 party1 dragon99 adonai carwash metropol
psychnau vthctltc hounds firework blink18 wildcat1 satchel rice80 ghtktcnm sailor1 cubano anderso rocks1 mike11 famili
dfghjc besiktas roygbiv nikko bethan minotaur rakesh orange12 hfleuf jackel myangel favorite7 asssss agnieszka haley1
raisin htubyf 1buster cfiekz derevo 1a2a3a4a5a baltika raffles scruffy1 clitlick louis1 buddha1 fy.nrf walker1 makoto
shadow2 redbeard vfvfvskfhfve mycock sandydog lineman network1 favorite8 longdick mustangg mavericks indica 1killer
cisco1 angelofwar blue69 brianna1 bubbaa slayer666 level42 baldrick brutus1 lowdown haribo lovesexy thissuck picker
stephy 1fuckme characte telecast 1bigdog repytwjdf thematrix hammerhe chucha ganesha gunsmoke georgi sheltie 1harley
knulla sallas westie dragon7 conker crappie margosha lisboa 3e2w1q shrike grifter ghjcnjghjcnj asdfg1 mnbvcxz1 myszka
posture boggie rocketman flhtyfkby twiztid vostok pi314159 force1 televizor gtkmvtym samhain imcool jadzia dreamers
strannik k2trix steelhea nikitin commodor brian123 chocobo whopper ibilljpf megafon ararat thomas12 ghbrjkbcn hibernia
kings1 jim123 redfive 68camaro iawgk2 xavier1 ndirish airborn halfmoon fluffy1 ranchero sneaker soccer2 passion1
cowman birthday1 johnn razzle glock17 wsxqaz nubian lucky2 jelly1 henderso eric1 boscoe01 fuck0ff simpson1 sassie
rjyjgkz nascar3 watashi loredana janus wilso conman david2 mothe iloveher snikers davidj fkmnthyfnbdf mettss ratfink
lostsoul sweet16 brabus wobble petra1 fuckfest otters sable1 svetka spartacu bigstick milashka 1lover pasport champagn
papichul hrvatska hondacivic kevins tacit moneybag gohogs rasta1 ytyfdbcnm gubber darkmoon vitaliy playboys tristan1
joyce1 oriflame mugwump access2 autocad thematri qweqwe123 lolwut ibill01 multisyn pelikan rob123 chacal griffon pooch
dagestan geisha satriani anjali rocketma gixxer pendrago vincen hellokit killyou ruger doodah bumblebe badlands
galactic emachines foghorn jackso jerem avgust frontera daisymae hornyboy welcome123 tigger01 diabl angel13 interex
iwantsex rockydog kukolka sawdust online1 bigpapa jewboy dave123 riches tony1 toggle farter tities balle brasilia
southsid micke ghbdtn12 patit ctdfcnjgjkm olds442 zzzzzz1 nelso gremlins gypsy1 carter1 slut69 farcry michael8 birdie1
charl 123456789abc aztec sinjin bigpimpi closeup atlas1 nvidia doggone classic1 manana malcolm1 rfkbyf hotbabe rajesh
dimebag ganjubas rodion jagr68 seren syrinx funnyman karapuz bloomin admin18533362 biggdogg ocarina poopy1 hellome
internet1 booties blowjobs matt1 donkey1 swede 1jennife evgeniya lfhbyf coach1 green12 patryk pinewood justin12
notredame tuborg lemond sk8ter million1 wowser pablo1 st0n3 jeeves funhouse hiroshi gobucs angeleye bereza winter12
catalin qazedc andros ramazan vampyre sweethea imperium murat jamest flossy sandeep morgen salamandra bigdogg stroller
njdevils nutsack vittorio %%passwo playful rjyatnrf tookie ubnfhf michi shadow13 devils1 radiance toshiba1 beluga
amormi dandfa trust1 killemall smallville polgara billyb landscap steves exploite zamboni damage11 dzxtckfd trader12
pokey1 kobe08 damager egorov dragon88 ckfdbr lisa69 blade2 audis4 nelson1 nibbles 23176djivanfros mutabor artofwar
matvei metal666 hrfzlz schwinn poohbea seven77 thinker 123456789qwerty sobriety jakers karamelka vbkfyf volodin iddqd
dale03 roberto1 lizaveta qqqqqq1 cathy1 davidm quixote bluenote tazdevil katrina1 bigfoot1 bublik marma olechka
fatpussy marduk arina nonrev67 qqqq1111 camill wtpfhm truffle fairview mashina voltaire qazxswedcvfr dickface grassy
lapdance bosstone crazy8 yackwin mobil danielit mounta1n player69 bluegill mewtwo reverb cnthdf pablito elena1
warcraft1 orland ilovemyself rfntyjr joyride schoo dthjxrf thetachi goodtimes blacksun humpty chewbacca guyute 123xyz
lexicon blue45 qwe789 galatasaray centrino hendrix1 deimos saturn5 craig1 vlad1996 sarah123 tupelo ljrnjh hotwife
bingos nicholas1 flamer pusher heart1 hun999 jiggy giddyup oktober 123456zxc budda galahad glamur samwise oneton
bugsbunny dominic1 scooby2 freetime internat sc00ter wantit mazinger inflames laracrof greedo godofwar repytwjd
water123 fishnet venus1 wallace1 tenpin paula1 mania novikov qwertyasdfgh goldmine homies 8balls holeinon paper1
samael mansur nikit ak1234 blueline polska1 hotcock laredo windstar vbkbwbz raider1 newworld lfybkrf catfish1 shorty1
piranha treacle royale smurfs minion cadence flapjack sydne robinhoo nasdaq decatur cyberonline newage gemstone jabba
touchme hooch pigdog indahous fonzie zebra1 juggle patrick2 nihongo hitomi oldnavy qwerfdsa ukraina shakti allure
kingrich diane1 canad piramide hottie1 clarion college1 connect1 therion clubber velcro dave1 astra1 astroboy skittle
isgreat photoes cvzefh1gkc 2cool4u ginger12 2wsxcde3 camaro69 invader domenow asd1234 colgate qwertasdfg jack123
pass01 maxman bronte whkzyc peter123 bogie yecgaa abc321 1qay2wsx enfield camaroz2 trashman bonefish system32
azsxdcfvgb peterose iwantyou dick69 temp1234 blastoff capa200 connie1 blazin sexybaby brentfor pheasant hommer jerryg
thunders august1 lager kapusta boobs1 nokia5300 rocco1 xytfu7 stars1 tugger 123sas blingbling 1bubba 0wnsyo0 1george
baile richard2 habana 1diamond sensatio 1golfer maverick1 1chris clinton1 michael7 dragons1 sunrise1 pissant fatim
mopar1 levani rostik pizzapie oceans11 cum4me palmetto 4r3e2w1q paige1 muncher arsehole kratos gaffer banderas billys
prakash crabby bungie silver12 caddis spawn1 xboxlive sylvania littlebi futura valdemar isacs155 prettygirl big123
slimer chicke newstyle skypilot sailormoon fatluvr69 jetaime sitruc jesuschrist sameer bear12 hellion yendor country1
etnies conejo jedimast darkknight toobad yxcvbn snooks porn4life calvary alfaromeo ghostman yannick fnkfynblf vatoloco
homebase barret 1111111111zz odysseus edwardss favre4 jerrys crybaby xsw21qaz firestor spanks indians1 squish kingair
babycakes haters sarahs teddyb xfactor cumload rhapsody death123 three3 raccoon thomas2 slayer66 1q2q3q4q5q thebes
mysterio thirdeye orkiox. nodoubt bugsy schweiz dima1996 angels1 darkwing jeronimo moonpie ronaldo9 peaches2 mack10
manish denise1 fellowes carioca taylor12 epaulson makemoney oc247ngucz kochanie 3edcvfr4 vulture 1qw23e munchie
picard1 xthtgfirf sportste psycho1 tahoe1 creativ perils slurred hermit scoob diesel1 cards1 wipeout weeble integra1
out3xf powerpc chrism kalle ariadne kailua phatty dexter1 fordman bungalow paul123 compa train1 thejoker jys6wz
pussyeater eatmee sludge dominus denisa tagheuer yxcvbnm bill1 ghfdlf 300zx nikita123 carcass semaj ramone muenchen
animal1 greeny annemari dbrf134 jeepcj7 mollys garten sashok ironmaid coyotes astoria george12 westcoast primetim
panchito rafae japan1 framer auralo tooshort egorova qwerty22 callme medicina warhawk w1w2w3w4 cristia merli alex22
kawaii chatte wargames utvols muaddib trinket andreas1 jjjjj1 cleric scooters cuntlick gggggg1 slipknot1 handcuff
stussy guess1 leiceste ppppp1 passe lovegun chevyman hugecock driver1 buttsex psychnaut1 cyber1 black2 alpha12
melbourn man123 metalman yjdsqujl blondi bungee freak1 stomper caitlin1 nikitina flyaway prikol begood desperad
aurelius john1234 whosyourdaddy slimed123 bretagne den123 hotwheel king123 roodypoo izzicam save13tx warpten nokia3310
samolet ready1 coopers scott123 bonito 1aaaaa yomomma dawg1 rache itworks asecret fencer polka olivetti sysadmin
zepplin sanjuan lickem hondacrx pulamea future1 naked1 sexyguy w4g8at lollol1 declan runner1 rumple daddy123 4snz9g
grandprix calcio whatthefuck nagrom asslick pennst negrit squiggy police22 giovann toronto1 tweet yardbird seagate
truckers scimitar pescator slydog gaysex dogfish fuck777 qazxswed morkovka daniela1 imback horny69 jimmy2 bagger
ilove69 nikolaus atdhfkm rebirth 1111aaaa pervasive gjgeufq dte4uw gfhnbpfy skeletor whitney1 walkman delorean disco1
as1234 ishikawa fuck12 reaper1 dmitrii bigshot morrisse purgen qwer4321 itachi willys 123123qwe kisska roma123
trafford sk84life pedros idiom plover bebop jailbird arrowhea qwaszx123 zaxscdvf catlover bakers bones69 vermont1
helloyou simeon chevyz71 funguy stargaze parolparol steph1 bubby apathy poppet laxman kelly123 goodnews boner1 gaetano
astonvilla virtua luckyboy rocheste hello2u elohim trigger1 cstrike pepsicola miroslav fistfuck cheval magyar
svetlanka lbfyjxrf mamedov ronaldo1 scotty1 1nicole pittbull fredd bbbbb1 dagwood gfhkfvtyn ghblehrb logan5 1jordan
sexbomb omega2 montauk dtythf gibbon winamp thebomb millerli gemin baldy halflife2 dragon22 mulberry morrigan hotel6
zorglub surfin excell arhangel emachine moses1 reklama bulldog2 cuties barca twingo saber elite11 redtruck casablan
ashish moneyy pepper12 cnhtktw rjcnbr arschloch phenix cachorro sunita madoka joselui adams1 mymoney hemicuda fyutkjr
jake12 chicas eeeee1 sonnyboy smarties birdy kitten1 cnfcbr island1 kurosaki taekwond konfetka bennett1 omega3
jackson2 fresca minako octavian kban667 feyenoord muaythai jakedog fktrcfylhjdyf phuket sexslave fktrcfylhjdbx asdfjk
qwerty00 kindbud eltoro sex6969 nyknicks caballo evenflow hoddle love22 metro1 mahalko lawdog tightass manitou buckie
whiskey1 anton123 password4 primo ramair timbo brayden stewie pedro1 yorkshir ganster hellothe tippy1 direwolf genesi
rodrig enkeli vaz21099 sorcerer winky oneshot boggle serebro badger1 japanes comicbook kamehame alcat denis123 echo45
sexboy gr8ful hondo voetbal blue33 2112rush geneviev danni1 moosey polkmn matthew7 ironhead hot2trot ashley12 sweeper
imogen blue21 retep stealth1 guitarra bernard1 tatian frankfur vfnhbwf slacking haha123 asdasdas katenok airforce1
123456789qaz shotgun1 12qwasz reggie1 sharo pacifica dhip6a neptun kardon spooky1 beaut toosweet tiedup startac
lover69 rediska pirata vfhrbp 1234qwerty energize hansolo1 playbo larry123 oemdlg cnjvfnjkju alexan gohawks antonius
fcbayern mambo yummy1 kremlin ellen1 tremere vfiekz bellevue charlie9 izabella malishka fermat rotterda dawggy becket
chasey kramer1 lolit cabrio schlong arisha verity 3some favorit maricon travelle hotpants red1234 garrett1 home123
knarf seven777 figment asdewq canseco good2go warhol thomas01 pionee al9agd panacea chevy454 brazzers oriole azerty123
finalfan patricio northsta rebelde bulldo stallone boogie1 7uftyx cfhfnjd compusa cornholi config deere hoopster
sepultura grasshop babygurl lesbo diceman proverbs reddragon nurbek tigerwoo superdup buzzsaw kakaroto golgo13 edwar
123qaz123 butter1 sssss1 texas2 respekt ou812ic 123456qaz doctor1 mcgwire maria123 aol999 cinders aa1234 joness
ghbrjkmyj makemone sammyboy 380zliki theraven testme mylene elvira26 indiglo tiramisu shannara baby1 gfhreh papercut
johnmish orange8 bogey1 mustang7 bagpipes dimarik vsijyjr
`;
