// Made by Scripts/public-suffixes. Rules of the public suffix list, <https://publicsuffix.org/list/>, version 20230209.2326.
// This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0. If a copy of the MPL was not
// distributed with this file, You can obtain one at https://mozilla.org/MPL/2.0/.

extension SuffixRules {
    /// Domains that companies share out among their customers.
    static let part3 = """
        cc.ua inf.ua ltd.ua 611.to graphox.us *.devcdnaccesso.com *.on-acorn.io activetrail.biz
        adobeaemcloud.com *.dev.adobeaemcloud.com hlx.live adobeaemcloud.net hlx.page hlx3.page
        adobeio-static.net adobeioruntime.net beep.pl airkitapps.com airkitapps-au.com airkitapps.eu
        aivencloud.com akadns.net akamai.net akamai-staging.net akamaiedge.net akamaiedge-staging.net
        akamaihd.net akamaihd-staging.net akamaiorigin.net akamaiorigin-staging.net akamaized.net
        akamaized-staging.net edgekey.net edgekey-staging.net edgesuite.net edgesuite-staging.net barsy.ca
        *.compute.estate *.alces.network kasserver.com altervista.org alwaysdata.net myamaze.net cloudfront.net
        *.compute.amazonaws.com *.compute-1.amazonaws.com *.compute.amazonaws.com.cn us-east-1.amazonaws.com
        s3.cn-north-1.amazonaws.com.cn s3.dualstack.ap-northeast-1.amazonaws.com
        s3.dualstack.ap-northeast-2.amazonaws.com s3.ap-northeast-2.amazonaws.com
        s3-website.ap-northeast-2.amazonaws.com s3.dualstack.ap-south-1.amazonaws.com
        s3.ap-south-1.amazonaws.com s3-website.ap-south-1.amazonaws.com
        s3.dualstack.ap-southeast-1.amazonaws.com s3.dualstack.ap-southeast-2.amazonaws.com
        s3.dualstack.ca-central-1.amazonaws.com s3.ca-central-1.amazonaws.com
        s3-website.ca-central-1.amazonaws.com s3.dualstack.eu-central-1.amazonaws.com
        s3.eu-central-1.amazonaws.com s3-website.eu-central-1.amazonaws.com s3.dualstack.eu-west-1.amazonaws.com
        s3.dualstack.eu-west-2.amazonaws.com s3.eu-west-2.amazonaws.com s3-website.eu-west-2.amazonaws.com
        s3.dualstack.eu-west-3.amazonaws.com s3.eu-west-3.amazonaws.com s3-website.eu-west-3.amazonaws.com
        s3.amazonaws.com s3-ap-northeast-1.amazonaws.com s3-ap-northeast-2.amazonaws.com
        s3-ap-south-1.amazonaws.com s3-ap-southeast-1.amazonaws.com s3-ap-southeast-2.amazonaws.com
        s3-ca-central-1.amazonaws.com s3-eu-central-1.amazonaws.com s3-eu-west-1.amazonaws.com
        s3-eu-west-2.amazonaws.com s3-eu-west-3.amazonaws.com s3-external-1.amazonaws.com
        s3-fips-us-gov-west-1.amazonaws.com s3-sa-east-1.amazonaws.com s3-us-east-2.amazonaws.com
        s3-us-gov-west-1.amazonaws.com s3-us-west-1.amazonaws.com s3-us-west-2.amazonaws.com
        s3-website-ap-northeast-1.amazonaws.com s3-website-ap-southeast-1.amazonaws.com
        s3-website-ap-southeast-2.amazonaws.com s3-website-eu-west-1.amazonaws.com
        s3-website-sa-east-1.amazonaws.com s3-website-us-east-1.amazonaws.com s3-website-us-west-1.amazonaws.com
        s3-website-us-west-2.amazonaws.com s3.dualstack.sa-east-1.amazonaws.com
        s3.dualstack.us-east-1.amazonaws.com s3.dualstack.us-east-2.amazonaws.com s3.us-east-2.amazonaws.com
        s3-website.us-east-2.amazonaws.com vfs.cloud9.af-south-1.amazonaws.com
        webview-assets.cloud9.af-south-1.amazonaws.com vfs.cloud9.ap-east-1.amazonaws.com
        webview-assets.cloud9.ap-east-1.amazonaws.com vfs.cloud9.ap-northeast-1.amazonaws.com
        webview-assets.cloud9.ap-northeast-1.amazonaws.com vfs.cloud9.ap-northeast-2.amazonaws.com
        webview-assets.cloud9.ap-northeast-2.amazonaws.com vfs.cloud9.ap-northeast-3.amazonaws.com
        webview-assets.cloud9.ap-northeast-3.amazonaws.com vfs.cloud9.ap-south-1.amazonaws.com
        webview-assets.cloud9.ap-south-1.amazonaws.com vfs.cloud9.ap-southeast-1.amazonaws.com
        webview-assets.cloud9.ap-southeast-1.amazonaws.com vfs.cloud9.ap-southeast-2.amazonaws.com
        webview-assets.cloud9.ap-southeast-2.amazonaws.com vfs.cloud9.ca-central-1.amazonaws.com
        webview-assets.cloud9.ca-central-1.amazonaws.com vfs.cloud9.eu-central-1.amazonaws.com
        webview-assets.cloud9.eu-central-1.amazonaws.com vfs.cloud9.eu-north-1.amazonaws.com
        webview-assets.cloud9.eu-north-1.amazonaws.com vfs.cloud9.eu-south-1.amazonaws.com
        webview-assets.cloud9.eu-south-1.amazonaws.com vfs.cloud9.eu-west-1.amazonaws.com
        webview-assets.cloud9.eu-west-1.amazonaws.com vfs.cloud9.eu-west-2.amazonaws.com
        webview-assets.cloud9.eu-west-2.amazonaws.com vfs.cloud9.eu-west-3.amazonaws.com
        webview-assets.cloud9.eu-west-3.amazonaws.com vfs.cloud9.me-south-1.amazonaws.com
        webview-assets.cloud9.me-south-1.amazonaws.com vfs.cloud9.sa-east-1.amazonaws.com
        webview-assets.cloud9.sa-east-1.amazonaws.com vfs.cloud9.us-east-1.amazonaws.com
        webview-assets.cloud9.us-east-1.amazonaws.com vfs.cloud9.us-east-2.amazonaws.com
        webview-assets.cloud9.us-east-2.amazonaws.com vfs.cloud9.us-west-1.amazonaws.com
        webview-assets.cloud9.us-west-1.amazonaws.com vfs.cloud9.us-west-2.amazonaws.com
        webview-assets.cloud9.us-west-2.amazonaws.com cn-north-1.eb.amazonaws.com.cn
        cn-northwest-1.eb.amazonaws.com.cn elasticbeanstalk.com ap-northeast-1.elasticbeanstalk.com
        ap-northeast-2.elasticbeanstalk.com ap-northeast-3.elasticbeanstalk.com ap-south-1.elasticbeanstalk.com
        ap-southeast-1.elasticbeanstalk.com ap-southeast-2.elasticbeanstalk.com
        ca-central-1.elasticbeanstalk.com eu-central-1.elasticbeanstalk.com eu-west-1.elasticbeanstalk.com
        eu-west-2.elasticbeanstalk.com eu-west-3.elasticbeanstalk.com sa-east-1.elasticbeanstalk.com
        us-east-1.elasticbeanstalk.com us-east-2.elasticbeanstalk.com us-gov-west-1.elasticbeanstalk.com
        us-west-1.elasticbeanstalk.com us-west-2.elasticbeanstalk.com *.elb.amazonaws.com.cn *.elb.amazonaws.com
        awsglobalaccelerator.com eero.online eero-stage.online t3l3p0rt.net tele.amune.org apigee.io siiites.com
        appspacehosted.com appspaceusercontent.com appudo.net on-aptible.com user.aseinet.ne.jp gv.vc d.gv.vc
        user.party.eus pimienta.org poivron.org potager.org sweetpepper.org myasustor.com
        cdn.prod.atlassian-dev.net translated.page autocode.dev myfritz.net onavstack.net *.awdev.ca
        *.advisor.ws ecommerce-shop.pl b-data.io backplaneapp.io balena-devices.com rs.ba *.banzai.cloud
        app.banzaicloud.io *.backyards.banzaicloud.io base.ec official.ec buyshop.jp fashionstore.jp
        handcrafted.jp kawaiishop.jp supersale.jp theshop.jp shopselect.net base.shop beagleboard.io *.beget.app
        betainabox.com bnr.la bitbucket.io blackbaudcdn.net of.je bluebite.io boomla.net boutir.com boxfuse.io
        square7.ch bplaced.com bplaced.de square7.de bplaced.net square7.net shop.brendly.rs
        browsersafetymark.io uk0.bigv.io dh.bytemark.co.uk vm.bytemark.co.uk cafjs.com mycd.eu canva-apps.cn
        canva-apps.com drr.ac uwu.ai carrd.co crd.co ju.mp ae.org br.com cn.com com.de com.se de.com eu.com
        gb.net hu.net jp.net jpn.com mex.com ru.com sa.com se.net uk.com uk.net us.com za.bz za.com ar.com
        hu.com kr.com no.com qc.com uy.com africa.com gr.com in.net web.in us.org co.com aus.basketball
        nz.basketball radio.am radio.fm c.la certmgr.org cx.ua discourse.group discourse.team cleverapps.io
        clerk.app clerkstage.app *.lcl.dev *.lclstage.dev *.stg.dev *.stgstage.dev clickrising.net c66.me
        cloud66.ws cloud66.zone jdevcloud.com wpdevcloud.com cloudaccess.host freesite.host cloudaccess.net
        cloudcontrolled.com cloudcontrolapp.com *.cloudera.site cf-ipfs.com cloudflare-ipfs.com
        trycloudflare.com pages.dev r2.dev workers.dev wnext.app co.ca *.otap.co co.cz c.cdn77.org cdn77-ssl.net
        r.cdn77.net rsc.cdn77.org ssl.origin.cdn77-secure.org cloudns.asia cloudns.biz cloudns.club cloudns.cc
        cloudns.eu cloudns.in cloudns.info cloudns.org cloudns.pro cloudns.pw cloudns.us cnpy.gdn codeberg.page
        co.nl co.no webhosting.be hosting-cluster.nl ac.ru edu.ru gov.ru int.ru mil.ru test.ru dyn.cosidns.de
        dynamisches-dns.de dnsupdater.de internet-dns.de l-o-g-i-n.de dynamic-dns.info feste-ip.net
        knx-server.net static-access.net realm.cz *.cryptonomic.net cupcake.is curv.dev *.customer-oci.com
        *.oci.customer-oci.com *.ocp.customer-oci.com *.ocs.customer-oci.com cyon.link cyon.site fnwk.site
        folionetwork.site platform0.app daplie.me localhost.daplie.me dattolocal.com dattorelay.com dattoweb.com
        mydatto.com dattolocal.net mydatto.net biz.dk co.dk firm.dk reg.dk store.dk dyndns.dappnode.io
        *.dapps.earth *.bzz.dapps.earth builtwithdark.com demo.datadetect.com instance.datadetect.com
        edgestack.me ddns5.com debian.net deno.dev deno-staging.dev dedyn.io deta.app deta.dev *.rss.my.id
        *.diher.solutions discordsays.com discordsez.com jozi.biz dnshome.de online.th shop.th drayddns.com
        shoparena.pl dreamhosters.com mydrobo.com drud.io drud.us duckdns.org bip.sh bitbridge.net dy.fi
        tunk.org dyndns-at-home.com dyndns-at-work.com dyndns-blog.com dyndns-free.com dyndns-home.com
        dyndns-ip.com dyndns-mail.com dyndns-office.com dyndns-pics.com dyndns-remote.com dyndns-server.com
        dyndns-web.com dyndns-wiki.com dyndns-work.com dyndns.biz dyndns.info dyndns.org dyndns.tv
        at-band-camp.net ath.cx barrel-of-knowledge.info barrell-of-knowledge.info better-than.tv blogdns.com
        blogdns.net blogdns.org blogsite.org boldlygoingnowhere.org broke-it.net buyshouses.net cechire.com
        dnsalias.com dnsalias.net dnsalias.org dnsdojo.com dnsdojo.net dnsdojo.org does-it.net doesntexist.com
        doesntexist.org dontexist.com dontexist.net dontexist.org doomdns.com doomdns.org dvrdns.org
        dyn-o-saur.com dynalias.com dynalias.net dynalias.org dynathome.net dyndns.ws endofinternet.net
        endofinternet.org endoftheinternet.org est-a-la-maison.com est-a-la-masion.com est-le-patron.com
        est-mon-blogueur.com for-better.biz for-more.biz for-our.info for-some.biz for-the.biz forgot.her.name
        forgot.his.name from-ak.com from-al.com from-ar.com from-az.net from-ca.com from-co.net from-ct.com
        from-dc.com from-de.com from-fl.com from-ga.com from-hi.com from-ia.com from-id.com from-il.com
        from-in.com from-ks.com from-ky.com from-la.net from-ma.com from-md.com from-me.org from-mi.com
        from-mn.com from-mo.com from-ms.com from-mt.com from-nc.com from-nd.com from-ne.com from-nh.com
        from-nj.com from-nm.com from-nv.com from-ny.net from-oh.com from-ok.com from-or.com from-pa.com
        from-pr.com from-ri.com from-sc.com from-sd.com from-tn.com from-tx.com from-ut.com from-va.com
        from-vt.com from-wa.com from-wi.com from-wv.com from-wy.com ftpaccess.cc fuettertdasnetz.de
        game-host.org game-server.cc getmyip.com gets-it.net go.dyndns.org gotdns.com gotdns.org groks-the.info
        groks-this.info ham-radio-op.net here-for-more.info hobby-site.com hobby-site.org home.dyndns.org
        homedns.org homeftp.net homeftp.org homeip.net homelinux.com homelinux.net homelinux.org homeunix.com
        homeunix.net homeunix.org iamallama.com in-the-band.net is-a-anarchist.com is-a-blogger.com
        is-a-bookkeeper.com is-a-bruinsfan.org is-a-bulls-fan.com is-a-candidate.org is-a-caterer.com
        is-a-celticsfan.org is-a-chef.com is-a-chef.net is-a-chef.org is-a-conservative.com is-a-cpa.com
        is-a-cubicle-slave.com is-a-democrat.com is-a-designer.com is-a-doctor.com is-a-financialadvisor.com
        is-a-geek.com is-a-geek.net is-a-geek.org is-a-green.com is-a-guru.com is-a-hard-worker.com
        is-a-hunter.com is-a-knight.org is-a-landscaper.com is-a-lawyer.com is-a-liberal.com
        is-a-libertarian.com is-a-linux-user.org is-a-llama.com is-a-musician.com is-a-nascarfan.com
        is-a-nurse.com is-a-painter.com is-a-patsfan.org is-a-personaltrainer.com is-a-photographer.com
        is-a-player.com is-a-republican.com is-a-rockstar.com is-a-socialist.com is-a-soxfan.org
        is-a-student.com is-a-teacher.com is-a-techie.com is-a-therapist.com is-an-accountant.com
        is-an-actor.com is-an-actress.com is-an-anarchist.com is-an-artist.com is-an-engineer.com
        is-an-entertainer.com is-by.us is-certified.com is-found.org is-gone.com is-into-anime.com
        is-into-cars.com is-into-cartoons.com is-into-games.com is-leet.com is-lost.org is-not-certified.com
        is-saved.org is-slick.com is-uberleet.com is-very-bad.org is-very-evil.org is-very-good.org
        is-very-nice.org is-very-sweet.org is-with-theband.com isa-geek.com isa-geek.net isa-geek.org
        isa-hockeynut.com issmarterthanyou.com isteingeek.de istmein.de kicks-ass.net kicks-ass.org
        knowsitall.info land-4-sale.us lebtimnetz.de leitungsen.de likes-pie.com likescandy.com merseine.nu
        mine.nu misconfused.org mypets.ws myphotos.cc neat-url.com office-on-the.net on-the-web.tv podzone.net
        podzone.org readmyblog.org saves-the-whales.com scrapper-site.net scrapping.cc selfip.biz selfip.com
        selfip.info selfip.net selfip.org sells-for-less.com sells-for-u.com sells-it.net sellsyourhome.org
        servebbs.com servebbs.net servebbs.org serveftp.net serveftp.org servegame.org shacknet.nu
        simple-url.com space-to-rent.com stuff-4-sale.org stuff-4-sale.us teaches-yoga.com thruhere.net
        traeumtgerade.de webhop.biz webhop.info webhop.net webhop.org worse-than.tv writesthisblog.com ddnss.de
        dyn.ddnss.de dyndns.ddnss.de dyndns1.de dyn-ip24.de home-webserver.de dyn.home-webserver.de
        myhome-server.de ddnss.org definima.net definima.io ondigitalocean.app *.digitaloceanspaces.com
        bci.dnstrace.pro ddnsfree.com ddnsgeek.com giize.com gleeze.com kozow.com loseyourip.com ooguy.com
        theworkpc.com casacam.net dynu.net accesscam.org camdvr.org freeddns.org mywire.org webredirect.org
        myddns.rocks blogsite.xyz dynv6.net e4.cz easypanel.app easypanel.host elementor.cloud elementor.cool
        en-root.fr mytuleap.com tuleap-partners.com encr.app encoreapi.com onred.one staging.onred.one
        eu.encoway.cloud eu.org al.eu.org asso.eu.org at.eu.org au.eu.org be.eu.org bg.eu.org ca.eu.org
        cd.eu.org ch.eu.org cn.eu.org cy.eu.org cz.eu.org de.eu.org dk.eu.org edu.eu.org ee.eu.org es.eu.org
        fi.eu.org fr.eu.org gr.eu.org hr.eu.org hu.eu.org ie.eu.org il.eu.org in.eu.org int.eu.org is.eu.org
        it.eu.org jp.eu.org kr.eu.org lt.eu.org lu.eu.org lv.eu.org mc.eu.org me.eu.org mk.eu.org mt.eu.org
        my.eu.org net.eu.org ng.eu.org nl.eu.org no.eu.org nz.eu.org paris.eu.org pl.eu.org pt.eu.org q-a.eu.org
        ro.eu.org ru.eu.org se.eu.org si.eu.org sk.eu.org tr.eu.org uk.eu.org us.eu.org eurodir.ru
        eu-1.evennode.com eu-2.evennode.com eu-3.evennode.com eu-4.evennode.com us-1.evennode.com
        us-2.evennode.com us-3.evennode.com us-4.evennode.com twmail.cc twmail.net twmail.org mymailer.com.tw
        url.tw onfabrica.com apps.fbsbx.com ru.net adygeya.ru bashkiria.ru bir.ru cbg.ru com.ru dagestan.ru
        grozny.ru kalmykia.ru kustanai.ru marine.ru mordovia.ru msk.ru mytis.ru nalchik.ru nov.ru pyatigorsk.ru
        spb.ru vladikavkaz.ru vladimir.ru abkhazia.su adygeya.su aktyubinsk.su arkhangelsk.su armenia.su
        ashgabad.su azerbaijan.su balashov.su bashkiria.su bryansk.su bukhara.su chimkent.su dagestan.su
        east-kazakhstan.su exnet.su georgia.su grozny.su ivanovo.su jambyl.su kalmykia.su kaluga.su karacol.su
        karaganda.su karelia.su khakassia.su krasnodar.su kurgan.su kustanai.su lenug.su mangyshlak.su
        mordovia.su msk.su murmansk.su nalchik.su navoi.su north-kazakhstan.su nov.su obninsk.su penza.su
        pokrovsk.su sochi.su spb.su tashkent.su termez.su togliatti.su troitsk.su tselinograd.su tula.su tuva.su
        vladikavkaz.su vladimir.su vologda.su channelsdvr.net u.channelsdvr.net edgecompute.app fastly-edge.com
        fastly-terrarium.com fastlylb.net map.fastlylb.net freetls.fastly.net map.fastly.net a.prod.fastly.net
        global.prod.fastly.net a.ssl.fastly.net b.ssl.fastly.net global.ssl.fastly.net *.user.fm
        fastvps-server.com fastvps.host myfast.host fastvps.site myfast.space fedorainfracloud.org
        fedorapeople.org cloud.fedoraproject.org app.os.fedoraproject.org app.os.stg.fedoraproject.org conn.uk
        copro.uk hosp.uk mydobiss.com fh-muenster.io filegear.me filegear-au.me filegear-de.me filegear-gb.me
        filegear-ie.me filegear-jp.me filegear-sg.me firebaseapp.com fireweb.app flap.id onflashdrive.app
        fldrv.com fly.dev edgeapp.net shw.io flynnhosting.net forgeblocks.com id.forgerock.io framer.app
        framercanvas.com framer.media framer.photos framer.website framer.wiki *.frusky.de ravpage.co.il 0e.vc
        freebox-os.com freeboxos.com fbx-os.fr fbxos.fr freebox-os.fr freeboxos.fr freedesktop.org freemyip.com
        wien.funkfeuer.at *.futurecms.at *.ex.futurecms.at *.in.futurecms.at futurehosting.at futuremailing.at
        *.ex.ortsinfo.at *.kunden.ortsinfo.at *.statics.cloud independent-commission.uk independent-inquest.uk
        independent-inquiry.uk independent-panel.uk independent-review.uk public-inquiry.uk royal-commission.uk
        campaign.gov.uk service.gov.uk api.gov.uk gehirn.ne.jp usercontent.jp gentapps.com gentlentapis.com
        lab.ms cdn-edges.net ghost.io gsj.bz githubusercontent.com githubpreview.dev github.io gitlab.io
        gitapp.si gitpage.si glitch.me nog.community co.ro shop.ro lolipop.io angry.jp babyblue.jp babymilk.jp
        backdrop.jp bambina.jp bitter.jp blush.jp boo.jp boy.jp boyfriend.jp but.jp candypop.jp capoo.jp
        catfood.jp cheap.jp chicappa.jp chillout.jp chips.jp chowder.jp chu.jp ciao.jp cocotte.jp coolblog.jp
        cranky.jp cutegirl.jp daa.jp deca.jp deci.jp digick.jp egoism.jp fakefur.jp fem.jp flier.jp floppy.jp
        fool.jp frenchkiss.jp girlfriend.jp girly.jp gloomy.jp gonna.jp greater.jp hacca.jp heavy.jp her.jp
        hiho.jp hippy.jp holy.jp hungry.jp icurus.jp itigo.jp jellybean.jp kikirara.jp kill.jp kilo.jp kuron.jp
        littlestar.jp lolipopmc.jp lolitapunk.jp lomo.jp lovepop.jp lovesick.jp main.jp mods.jp mond.jp
        mongolian.jp moo.jp namaste.jp nikita.jp nobushi.jp noor.jp oops.jp parallel.jp parasite.jp pecori.jp
        peewee.jp penne.jp pepper.jp perma.jp pigboat.jp pinoko.jp punyu.jp pupu.jp pussycat.jp pya.jp
        raindrop.jp readymade.jp sadist.jp schoolbus.jp secret.jp staba.jp stripper.jp sub.jp sunnyday.jp
        thick.jp tonkotsu.jp under.jp upper.jp velvet.jp verse.jp versus.jp vivian.jp watson.jp weblike.jp
        whitesnow.jp zombie.jp heteml.net cloudapps.digital london.cloudapps.digital pymnt.uk homeoffice.gov.uk
        ro.im goip.de run.app a.run.app web.app *.0emm.com appspot.com *.r.appspot.com codespot.com
        googleapis.com googlecode.com pagespeedmobilizer.com publishproxy.com withgoogle.com withyoutube.com
        *.gateway.dev cloud.goog translate.goog *.usercontent.goog cloudfunctions.net blogspot.ae blogspot.al
        blogspot.am blogspot.ba blogspot.be blogspot.bg blogspot.bj blogspot.ca blogspot.cf blogspot.ch
        blogspot.cl blogspot.co.at blogspot.co.id blogspot.co.il blogspot.co.ke blogspot.co.nz blogspot.co.uk
        blogspot.co.za blogspot.com blogspot.com.ar blogspot.com.au blogspot.com.br blogspot.com.by
        blogspot.com.co blogspot.com.cy blogspot.com.ee blogspot.com.eg blogspot.com.es blogspot.com.mt
        blogspot.com.ng blogspot.com.tr blogspot.com.uy blogspot.cv blogspot.cz blogspot.de blogspot.dk
        blogspot.fi blogspot.fr blogspot.gr blogspot.hk blogspot.hr blogspot.hu blogspot.ie blogspot.in
        blogspot.is blogspot.it blogspot.jp blogspot.kr blogspot.li blogspot.lt blogspot.lu blogspot.md
        blogspot.mk blogspot.mr blogspot.mx blogspot.my blogspot.nl blogspot.no blogspot.pe blogspot.pt
        blogspot.qa blogspot.re blogspot.ro blogspot.rs blogspot.ru blogspot.se blogspot.sg blogspot.si
        blogspot.sk blogspot.sn blogspot.td blogspot.tw blogspot.ug blogspot.vn goupile.fr gov.nl awsmppl.com
        günstigbestellen.de günstigliefern.de fin.ci free.hr caa.li ua.rs conf.se hs.zone hs.run hashbang.sh
        hasura.app hasura-app.io pages.it.hs-heilbronn.de hepforge.org herokuapp.com herokussl.com ravendb.cloud
        ravendb.community ravendb.me development.run ravendb.run homesklep.pl secaas.hk hoplix.shop orx.biz
        biz.gl col.ng firm.ng gen.ng ltd.ng ngo.ng edu.scot sch.so hostyhosting.io häkkinen.fi *.moonscale.io
        moonscale.net iki.fi ibxos.it iliadboxos.it impertrixcdn.com impertrix.com smushcdn.com wphostedmail.com
        wpmucdn.com tempurl.host wpmudev.host dyn-berlin.de in-berlin.de in-brb.de in-butter.de in-dsl.de
        in-dsl.net in-dsl.org in-vpn.de in-vpn.net in-vpn.org biz.at info.at info.cx ac.leg.br al.leg.br
        am.leg.br ap.leg.br ba.leg.br ce.leg.br df.leg.br es.leg.br go.leg.br ma.leg.br mg.leg.br ms.leg.br
        mt.leg.br pa.leg.br pb.leg.br pe.leg.br pi.leg.br pr.leg.br rj.leg.br rn.leg.br ro.leg.br rr.leg.br
        rs.leg.br sc.leg.br se.leg.br sp.leg.br to.leg.br pixolino.com na4u.ru iopsys.se ipifony.net
        iservschule.de mein-iserv.de schulplattform.de schulserver.de test-iserv.de iserv.dev iobb.net
        mel.cloudlets.com.au cloud.interhostsolutions.be users.scale.virtualcloud.com.br mycloud.by
        alp1.ae.flow.ch appengine.flow.ch es-1.axarnet.cloud diadem.cloud vip.jelastic.cloud jele.cloud
        it1.eur.aruba.jenv-aruba.cloud it1.jenv-aruba.cloud keliweb.cloud cs.keliweb.cloud oxa.cloud
        tn.oxa.cloud uk.oxa.cloud primetel.cloud uk.primetel.cloud ca.reclaim.cloud uk.reclaim.cloud
        us.reclaim.cloud ch.trendhosting.cloud de.trendhosting.cloud jele.club amscompute.com clicketcloud.com
        dopaas.com hidora.com paas.hosted-by-previder.com rag-cloud.hosteur.com rag-cloud-ch.hosteur.com
        jcloud.ik-server.com jcloud-ver-jpc.ik-server.com demo.jelastic.com kilatiron.com paas.massivegrid.com
        jed.wafaicloud.com lon.wafaicloud.com ryd.wafaicloud.com j.scaleforce.com.cy jelastic.dogado.eu
        fi.cloudplatform.fi demo.datacenter.fi paas.datacenter.fi jele.host mircloud.host paas.beebyte.io
        sekd1.beebyteapp.io jele.io cloud-fr1.unispace.io jc.neen.it cloud.jelastic.open.tim.it jcloud.kz
        upaas.kazteleport.kz cloudjiffy.net fra1-de.cloudjiffy.net west1-us.cloudjiffy.net jls-sto1.elastx.net
        jls-sto2.elastx.net jls-sto3.elastx.net faststacks.net fr-1.paas.massivegrid.net
        lon-1.paas.massivegrid.net lon-2.paas.massivegrid.net ny-1.paas.massivegrid.net
        ny-2.paas.massivegrid.net sg-1.paas.massivegrid.net jelastic.saveincloud.net
        nordeste-idc.saveincloud.net j.scaleforce.net jelastic.tsukaeru.net sdscloud.pl unicloud.pl mircloud.ru
        jelastic.regruhosting.ru enscaled.sg jele.site jelastic.team orangecloud.tn j.layershift.co.uk
        phx.enscaled.us mircloud.us myjino.ru *.hosting.myjino.ru *.landing.myjino.ru *.spectrum.myjino.ru
        *.vps.myjino.ru jotelulu.cloud *.triton.zone *.cns.joyent.com js.org kaas.gg khplay.nl ktistory.com
        kapsi.fi keymachine.de kinghost.net uni5.net knightpoint.systems koobin.events oya.to kuleuven.cloud
        ezproxy.kuleuven.be co.krd edu.krd krellian.net webthings.io git-repos.de lcube-server.de svn-repos.de
        leadpages.co lpages.co lpusercontent.com lelux.site co.business co.education co.events co.financial
        co.network co.place co.technology app.lmpm.com linkyard.cloud linkyard-cloud.ch members.linode.com
        *.nodebalancer.linode.com *.linodeobjects.com ip.linodeusercontent.com we.bs *.user.localcert.dev
        localzone.xyz loginline.app loginline.dev loginline.io loginline.services loginline.site servers.run
        lohmus.me krasnik.pl leczna.pl lubartow.pl lublin.pl poniatowa.pl swidnik.pl glug.org.uk lug.org.uk
        lugs.org.uk barsy.bg barsy.co.uk barsyonline.co.uk barsycenter.com barsyonline.com barsy.club barsy.de
        barsy.eu barsy.in barsy.info barsy.io barsy.me barsy.menu barsy.mobi barsy.net barsy.online barsy.org
        barsy.pro barsy.pub barsy.ro barsy.shop barsy.site barsy.support barsy.uk *.magentosite.cloud
        mayfirst.info mayfirst.org hb.cldmail.ru cn.vu mazeplay.com mcpe.me mcdir.me mcdir.ru mcpre.ru
        vps.mcdir.ru mediatech.by mediatech.dev hra.health miniserver.com memset.net messerli.app
        *.cloud.metacentrum.cz custom.metacentrum.cz flt.cloud.muni.cz usr.cloud.muni.cz meteorapp.com
        eu.meteorapp.com co.pl *.azurecontainer.io azurewebsites.net azure-mobile.net cloudapp.net
        azurestaticapps.net 1.azurestaticapps.net 2.azurestaticapps.net centralus.azurestaticapps.net
        eastasia.azurestaticapps.net eastus2.azurestaticapps.net westeurope.azurestaticapps.net
        westus2.azurestaticapps.net csx.cc mintere.site forte.id mozilla-iot.org bmoattachments.org net.ru
        org.ru pp.ru hostedpi.com customer.mythic-beasts.com caracal.mythic-beasts.com
        fentiger.mythic-beasts.com lynx.mythic-beasts.com ocelot.mythic-beasts.com oncilla.mythic-beasts.com
        onza.mythic-beasts.com sphinx.mythic-beasts.com vs.mythic-beasts.com x.mythic-beasts.com
        yali.mythic-beasts.com cust.retrosnub.co.uk ui.nabu.casa cloud.nospamproxy.com netlify.app 4u.com
        ngrok.io nh-serv.co.uk nfshost.com *.developer.app noop.app *.northflank.app *.build.run *.code.run
        *.database.run *.migration.run noticeable.news dnsking.ch mypi.co n4t.co 001www.com ddnslive.com
        myiphost.com forumz.info 16-b.it 32-b.it 64-b.it soundcast.me tcp4.me dnsup.net hicam.net now-dns.net
        ownip.net vpndns.net dynserv.org now-dns.org x443.pw now-dns.top ntdll.top freeddns.us crafting.xyz
        zapto.xyz nsupdate.info nerdpol.ovh blogsyte.com brasilia.me cable-modem.org ciscofreak.com
        collegefan.org couchpotatofries.org damnserver.com ddns.me ditchyourip.com dnsfor.me dnsiskinky.com
        dvrcam.info dynns.com eating-organic.net fantasyleague.cc geekgalaxy.com golffan.us
        health-carereform.com homesecuritymac.com homesecuritypc.com hopto.me ilovecollege.info loginto.me
        mlbfan.org mmafan.biz myactivedirectory.com mydissent.net myeffect.net mymediapc.net mypsx.net
        mysecuritycamera.com mysecuritycamera.net mysecuritycamera.org net-freaks.com nflfan.org nhlfan.net
        no-ip.ca no-ip.co.uk no-ip.net noip.us onthewifi.com pgafan.net point2this.com pointto.us
        privatizehealthinsurance.net quicksytes.com read-books.org securitytactics.com serveexchange.com
        servehumour.com servep2p.com servesarcasm.com stufftoread.com ufcfan.org unusualperson.com
        workisboring.com 3utilities.com bounceme.net ddns.net ddnsking.com gotdns.ch hopto.org myftp.biz
        myftp.org myvnc.com no-ip.biz no-ip.info no-ip.org noip.me redirectme.net servebeer.com serveblog.net
        servecounterstrike.com serveftp.com servegame.com servehalflife.com servehttp.com serveirc.com
        serveminecraft.net servemp3.com servepics.com servequake.com sytes.net webhop.me zapto.org
        stage.nodeart.io pcloud.host nyc.mn static.observableusercontent.com cya.gg omg.lol cloudycluster.net
        omniwe.site 123hjemmeside.dk 123hjemmeside.no 123homepage.it 123kotisivu.fi 123minsida.se 123miweb.es
        123paginaweb.pt 123sait.ru 123siteweb.fr 123webseite.at 123webseite.de 123website.be 123website.ch
        123website.lu 123website.nl service.one simplesite.com simplesite.com.br simplesite.gr simplesite.pl
        nid.io opensocial.site opencraft.hosting orsites.com operaunite.com tech.orange authgear-staging.com
        authgearapps.com skygearapp.com outsystemscloud.com *.webpaas.ovh.net *.hosting.ovh.net ownprovider.com
        own.pm *.owo.codes ox.rs oy.lc pgfog.com pagefrontapp.com pagexl.com *.paywhirl.com bar0.net bar1.net
        bar2.net rdv.to art.pl gliwice.pl krakow.pl poznan.pl wroc.pl zakopane.pl pantheonsite.io
        gotpantheon.com mypep.link perspecta.cloud lk3.ru on-web.fr bc.platform.sh ent.platform.sh
        eu.platform.sh us.platform.sh *.platformsh.site *.tst.site platter-app.com platter-app.dev platterp.us
        pdns.page plesk.page pleskns.com dyn53.io onporter.run co.bn postman-echo.com pstmn.io mock.pstmn.io
        httpbin.org prequalifyme.today xen.prgmr.com priv.at prvcy.page *.dweb.link protonet.io
        chirurgiens-dentistes-en-france.fr byen.site pubtls.org pythonanywhere.com eu.pythonanywhere.com qoto.io
        qualifioapp.com qbuser.com cloudsite.builders instances.spawn.cc instantcloud.cn ras.ru qa2.com qcx.io
        *.sys.qcx.io dev-myqnapcloud.com alpha-myqnapcloud.com myqnapcloud.com *.quipelements.com vapor.cloud
        vaporcloud.io rackmaze.com rackmaze.net g.vbrplsbx.io *.on-k3s.io *.on-rancher.cloud *.on-rio.io
        readthedocs.io rhcloud.com app.render.com onrender.com firewalledreplit.co id.firewalledreplit.co
        repl.co id.repl.co repl.run resindevice.io devices.resinstaging.io hzc.io wellbeingzone.eu
        wellbeingzone.co.uk adimo.co.uk itcouldbewor.se git-pages.rit.edu rocky.page биз.рус ком.рус крым.рус
        мир.рус мск.рус орг.рус самара.рус сочи.рус спб.рус я.рус *.builder.code.com *.dev-builder.code.com
        *.stg-builder.code.com sandcats.io logoip.de logoip.com fr-par-1.baremetal.scw.cloud
        fr-par-2.baremetal.scw.cloud nl-ams-1.baremetal.scw.cloud fnc.fr-par.scw.cloud
        functions.fnc.fr-par.scw.cloud k8s.fr-par.scw.cloud nodes.k8s.fr-par.scw.cloud s3.fr-par.scw.cloud
        s3-website.fr-par.scw.cloud whm.fr-par.scw.cloud priv.instances.scw.cloud pub.instances.scw.cloud
        k8s.scw.cloud k8s.nl-ams.scw.cloud nodes.k8s.nl-ams.scw.cloud s3.nl-ams.scw.cloud
        s3-website.nl-ams.scw.cloud whm.nl-ams.scw.cloud k8s.pl-waw.scw.cloud nodes.k8s.pl-waw.scw.cloud
        s3.pl-waw.scw.cloud s3-website.pl-waw.scw.cloud scalebook.scw.cloud smartlabeling.scw.cloud dedibox.fr
        schokokeks.net gov.scot service.gov.scot scrysec.com firewall-gateway.com firewall-gateway.de
        my-gateway.de my-router.de spdns.de spdns.eu firewall-gateway.net my-firewall.org myfirewall.org
        spdns.org seidat.net sellfy.store senseering.net minisite.ms magnet.page biz.ua co.ua pp.ua
        shiftcrypto.dev shiftcrypto.io shiftedit.io myshopblocks.com myshopify.com shopitsite.com shopware.store
        mo-siemens.io 1kapp.com appchizi.com applinzi.com sinaapp.com vipsinaapp.com siteleaf.net
        bounty-full.com alpha.bounty-full.com beta.bounty-full.com small-web.org vp4.me snowflake.app
        privatelink.snowflake.app streamlit.app streamlitapp.com try-snowplow.com srht.site
        stackhero-network.com musician.io novecore.site static.land dev.static.land sites.static.land
        storebase.store vps-host.net atl.jelastic.vps-host.net njs.jelastic.vps-host.net
        ric.jelastic.vps-host.net playstation-cloud.com apps.lair.io *.stolos.io spacekit.io
        customer.speedpartner.de myspreadshop.at myspreadshop.com.au myspreadshop.be myspreadshop.ca
        myspreadshop.ch myspreadshop.com myspreadshop.de myspreadshop.dk myspreadshop.es myspreadshop.fi
        myspreadshop.fr myspreadshop.ie myspreadshop.it myspreadshop.net myspreadshop.nl myspreadshop.no
        myspreadshop.pl myspreadshop.se myspreadshop.co.uk api.stdlib.com storj.farm utwente.io soc.srcf.net
        user.srcf.net temp-dns.com supabase.co supabase.in supabase.net su.paba.se *.s5y.io *.sensiosite.cloud
        syncloud.it dscloud.biz direct.quickconnect.cn dsmynas.com familyds.com diskstation.me dscloud.me
        i234.me myds.me synology.me dscloud.mobi dsmynas.net familyds.net dsmynas.org familyds.org vpnplus.to
        direct.quickconnect.to tabitorder.co.il mytabit.co.il mytabit.com taifun-dns.de beta.tailscale.net
        ts.net gda.pl gdansk.pl gdynia.pl med.pl sopot.pl site.tb-hosting.com edugit.io s3.teckids.org
        telebit.app telebit.io *.telebit.xyz *.firenet.ch *.svc.firenet.ch reservd.com thingdustdata.com
        cust.dev.thingdust.io cust.disrec.thingdust.io cust.prod.thingdust.io cust.testing.thingdust.io
        reservd.dev.thingdust.io reservd.disrec.thingdust.io reservd.testing.thingdust.io tickets.io
        arvo.network azimuth.network tlon.network torproject.net pages.torproject.net bloxcms.com
        townnews-staging.com 12hp.at 2ix.at 4lima.at lima-city.at 12hp.ch 2ix.ch 4lima.ch lima-city.ch
        trafficplex.cloud de.cool 12hp.de 2ix.de 4lima.de lima-city.de 1337.pictures clan.rip lima-city.rocks
        webspace.rocks lima.zone *.transurl.be *.transurl.eu *.transurl.nl site.transip.me tuxfamily.org
        dd-dns.de diskstation.eu diskstation.org dray-dns.de draydns.de dyn-vpn.de dynvpn.de mein-vigor.de
        my-vigor.de my-wan.de syno-ds.de synology-diskstation.de synology-ds.de typedream.app pro.typeform.com
        uber.space *.uberspace.de hk.com hk.org ltd.hk inc.hk it.com name.pm sch.tf biz.wf sch.wf org.yt
        virtualuser.de virtual-user.de upli.io urown.cloud dnsupdate.info lib.de.us 2038.io vercel.app
        vercel.dev now.sh router.management v-info.info voorloper.cloud neko.am nyaa.am be.ax cat.ax es.ax eu.ax
        gg.ax mc.ax us.ax xy.ax nl.ci xx.gl app.gp blog.gt de.gt to.gt be.gy cc.hn blog.kg io.kg jp.kg tv.kg
        uk.kg us.kg de.ls at.md de.md jp.md to.md indie.porn vxl.sh ch.tc me.tc we.tc nyan.to at.vg blog.vu
        dev.vu me.vu v.ua *.vultrobjects.com wafflecell.com *.webhare.dev reserve-online.net reserve-online.com
        bookonline.app hotelwithflight.com wedeploy.io wedeploy.me wedeploy.sh remotewd.com pages.wiardweb.com
        wmflabs.org toolforge.org wmcloud.org panel.gg daemon.panel.gg messwithdns.com woltlab-demo.com
        myforum.community community-pro.de diskussionsbereich.de community-pro.net meinforum.net
        affinitylottery.org.uk raffleentry.org.uk weeklylottery.org.uk wpenginepowered.com
        js.wpenginepowered.com wixsite.com editorx.io half.host xnbay.com u2.xnbay.com u2-local.xnbay.com
        cistron.nl demon.nl xs4all.space yandexcloud.net storage.yandexcloud.net website.yandexcloud.net
        official.academy yolasite.com ybo.faith yombo.me homelink.one ybo.party ybo.review ybo.science ybo.trade
        ynh.fr nohost.me noho.st za.net za.org bss.design basicserver.io virtualserver.io enterprisecloud.nu
        """
}
