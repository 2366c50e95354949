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
get make use need work change new old first last next previous same different internal external simple common general
local remote global public private main app application web site network connection timeout process thread task job
action event state status result type name path directory folder environment variable parameter argument object array
map node root parent model view template component service document docs comment description example sample`
